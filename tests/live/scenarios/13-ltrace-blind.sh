. "$(dirname "$0")/common.sh"
# Known call counts, five ways of calling: lazy PLT, -z now, the same with IBT, -fno-plt, dlsym. (ltrace 0.7.3 sees few of them.)
echo 'int add(int a,int b){return a+b;}' > add.c; gcc -shared -fPIC -O1 add.c -o libadd.so -Wl,-soname,libadd.so
printf 'int add(int,int);int main(){volatile int s=0;for(int i=0;i<1000;i++)s=add(s,i);return s==-1;}' > p.c
printf '#include <dlfcn.h>\nint main(){int(*f)(int,int)=(int(*)(int,int))dlsym(dlopen("libadd.so",RTLD_NOW),"add");volatile int s=0;for(int i=0;i<1000;i++)s=f(s,i);return s==-1;}' > q.c
R="-L. -ladd -Wl,-rpath,$LAB"; gcc -O1 -no-pie -fplt p.c $R -Wl,-z,lazy -fcf-protection=none -o lazy; gcc -O1 p.c $R -Wl,-z,now -o now; gcc -O1 -fcf-protection=full p.c $R -Wl,-z,now -Wl,-z,ibtplt -o ibtnow; gcc -O1 -fno-plt p.c $R -o noplt; gcc -O1 q.c -Wl,-rpath,$LAB -o viadlsym
