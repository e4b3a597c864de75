. "$(dirname "$0")/common.sh"
# What does "import numpy" cost? Here with a package of its own: a bare interpreter is the baseline.
mkdir -p site/heavy; touch site/heavy/__init__.py
printf 'int big(void){return 1;}\nchar pad[3000000]={1};\n' > big.c; gcc -shared -fPIC big.c -o libbig.so.1 -Wl,-soname,libbig.so.1
mkext _core site/heavy -DHOOK=big libbig.so.1 "-Wl,-rpath,$LAB"
start env PYTHONPATH=site $PY -c 'import heavy._core, time; print("ready", heavy._core.call(), flush=True); time.sleep(600)'
