. "$(dirname "$0")/common.sh"
# Two builds of one library without symbol versions, the first made global: the second wheel's calls go to the first one's copy.
mkdir -p site/one site/two site/one.libs site/two.libs; touch site/one/__init__.py site/two/__init__.py
echo 'int EVP_answer(void){return 1;}' > a.c; gcc -shared -fPIC a.c -Wl,-soname,libcrypto-aaaaaaaa.so.1.1 -o site/one.libs/libcrypto-aaaaaaaa.so.1.1
echo 'int EVP_answer(void){return 3;}' > b.c; gcc -shared -fPIC b.c -Wl,-soname,libcrypto-bbbbbbbb.so.3 -o site/two.libs/libcrypto-bbbbbbbb.so.3
mkext _one site/one -DHOOK=EVP_answer site/one.libs/libcrypto-aaaaaaaa.so.1.1 '-Wl,-rpath,$ORIGIN/../one.libs'
mkext _two site/two -DHOOK=EVP_answer site/two.libs/libcrypto-bbbbbbbb.so.3 '-Wl,-rpath,$ORIGIN/../two.libs'
start env PYTHONPATH=site $PY -c 'import sys,os,time; sys.setdlopenflags(os.RTLD_NOW|os.RTLD_GLOBAL); import one._one, two._two; print("ready", one._one.call(), two._two.call(), flush=True); time.sleep(600)'
