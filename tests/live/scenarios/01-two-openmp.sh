. "$(dirname "$0")/common.sh"
# pkga built by gcc (libgomp), pkgb against LLVM's runtime under its Intel-compatible name: the classic mix.
cat > hook.c <<C
#include <omp.h>
int hook(void){int n=0;
#pragma omp parallel reduction(+:n)
n+=1;
return n;}
C
LLVM=$(dirname "$(ls /usr/lib/llvm-*/lib/libomp.so.5 | head -1)")
gcc -fPIC -fopenmp -c hook.c -o hook.o
mkdir -p site/pkga site/pkgb; touch site/pkga/__init__.py site/pkgb/__init__.py
mkext _a site/pkga -DHOOK=hook hook.o -lgomp
mkext _b site/pkgb -DHOOK=hook hook.o -L"$LLVM" -l:libomp.so.5
start env PYTHONPATH=site $PY -c 'import pkga._a, pkgb._b, time; print("ready", pkga._a.call(), pkgb._b.call(), flush=True); time.sleep(600)'
