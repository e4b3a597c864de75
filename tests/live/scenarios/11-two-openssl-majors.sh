. "$(dirname "$0")/common.sh"
# psycopg2-binary's story: CPython's own OpenSSL and another one that a wheel ships, kept apart by symbol versions.
mkdir -p site/pq site/pq.libs; touch site/pq/__init__.py
printf 'OPENSSL_1_1_0 { global: OPENSSL_init_crypto; OpenSSL_version_num; local: *; };\n' > v.map
printf 'const char banner[]="OpenSSL 1.1.1w  11 Sep 2023";int OPENSSL_init_crypto(void){return banner[0];}int OpenSSL_version_num(void){return 0x1010117f>>12;}' > c.c
gcc -shared -fPIC c.c -Wl,--version-script=v.map -Wl,-soname,libcrypto-1b6775a1.so.1.1 -o site/pq.libs/libcrypto-1b6775a1.so.1.1
mkext _pq site/pq -DHOOK=OpenSSL_version_num site/pq.libs/libcrypto-1b6775a1.so.1.1 '-Wl,-rpath,$ORIGIN/../pq.libs'
start env PYTHONPATH=site $PY -c 'import ssl,hashlib; hashlib.sha256(b"x"); import pq._pq,time; print("ready",hex(pq._pq.call()),flush=True); time.sleep(600)'
