. "$(dirname "$0")/common.sh"
# An executable stack, DT_TEXTREL, two RWX mappings (one shows as "/dev/zero (deleted)": NOT a deleted library), a library in a
# world-writable directory, and initial-exec TLS in dlopen'ed libraries, of which there is little.
echo 'int e(void){return 1;}' > e.c; gcc -shared -fPIC e.c -z execstack -o libexecstack.so
printf '.text\n.globl t\nt: movabs $x,%%rax\n ret\n.data\nx: .quad 0\n.section .note.GNU-stack,"",@progbits\n' > t.s; gcc -shared t.s -Wl,-z,notext -o libtextrel.so
mkdir -m 1777 ww; chmod 1777 ww; echo 'int w(void){return 1;}' > w.c; gcc -shared -fPIC w.c -o ww/libinww.so
printf '__thread char buf[600] __attribute__((tls_model("initial-exec"))); char*NAME(void){return buf;}' > s.c
for i in 1 2 3 4; do gcc -shared -fPIC -DNAME=f$i s.c -o libtls$i.so; done
printf '__thread char b[5000]; char*dyn(void){return b;}' > d.c; gcc -shared -fPIC -ftls-model=global-dynamic d.c -o libtlsdyn.so
start $PY -c 'import ctypes,mmap,time
for n in ("libexecstack.so","libtextrel.so","ww/libinww.so","libtlsdyn.so"): ctypes.CDLL("./"+n)
for i in range(1,5):
    try: ctypes.CDLL("./libtls%d.so"%i)
    except OSError as e: print(e)
m=mmap.mmap(-1,8192,prot=7,flags=mmap.MAP_PRIVATE|mmap.MAP_ANONYMOUS); s=mmap.mmap(-1,4096,prot=7); print("ready",flush=True); time.sleep(600)'
