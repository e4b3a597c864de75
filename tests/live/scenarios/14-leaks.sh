. "$(dirname "$0")/common.sh"
# One service, four growths per tick, known exactly: 256 KiB native malloc never freed (in libleak.so), 64 KiB Python bytes kept, 1 epoll fd, 1 duplicated fd of the same file; one thread every 5 ticks.
printf '#include <stdlib.h>\n#include <string.h>\nint leak(void){void*p=malloc(262000);memset(p,1,262000);return p!=0;}' > l.c; gcc -shared -fPIC l.c -o libleak.so
start $PY -c 'import ctypes,time,select,os,threading
L=ctypes.CDLL("./libleak.so"); keep=[]; f=open("l.c"); n=0
print("ready",flush=True)
while True:
    L.leak(); keep.append(os.urandom(65536)); keep.append(select.epoll()); keep.append(os.dup(f.fileno()))
    n+=1
    if n%5==0: threading.Thread(target=time.sleep,args=(1e6,),daemon=True).start()
    time.sleep(0.1)'
