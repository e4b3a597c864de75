. "$(dirname "$0")/common.sh"
# An AppImage (or a program packed by PyInstaller) points LD_LIBRARY_PATH at its own libraries; the browser that it starts gets
# its old libz, which lacks what the browser's other libraries need.
mkdir -p app/lib system bin
printf 'Z_1 { global: z_old; };\n' > old.map; printf 'Z_1 { global: z_old; };\nZ_2 { global: z_new; } Z_1;\n' > new.map
echo 'int z_old(void){return 1;}' > z1.c; echo 'int z_old(void){return 1;} int z_new(void){return 2;}' > z2.c
gcc -shared -fPIC z1.c -Wl,--version-script=old.map -Wl,-soname,libzed.so.1 -o app/lib/libzed.so.1
gcc -shared -fPIC z2.c -Wl,--version-script=new.map -Wl,-soname,libzed.so.1 -o system/libzed.so.1
printf 'int z_new(void);int main(void){return z_new();}' > browser.c; gcc browser.c system/libzed.so.1 -Wl,--enable-new-dtags "-Wl,-rpath,$LAB/system" -o bin/browser
printf 'int main(void){return 0;}' > plain.c; gcc plain.c -o bin/plain
start env "PATH=$LAB/bin:$PATH" LD_LIBRARY_PATH=$LAB/app/lib $PY -c 'import time; print("ready",flush=True); time.sleep(600)'
