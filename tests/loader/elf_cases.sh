#!/bin/bash
# elf_cases.sh DIR [--verify] - builds small ELF files under DIR, one folder per rule of the dynamic
# loader, and prints what the loader does with each as tab-separated rows:
#   case  kind  env  cwd  root  requester  needed  expected  how  launch
# kind: exec   = run `launch` (a dynamic exe; trace with LD_TRACE_LOADED_OBJECTS=1)
#       proc   = run `launch`, it prints READY and sleeps; inspect the process by pid
#       chroot = root/requester/expected are paths INSIDE the chroot; launch starts it (needs root or `unshare -r`)
#       ns     = proc inside its own mount namespace (needs root)
#       user   = like exec, launched as uid 65534 (needs root); suid = set-user-id exe launched by uid 65534
#       musl   = exe whose PT_INTERP is musl's loader
# expected: the loader's l_name for the object | EXE (the main program) | MISSING | FATAL:<text> (the loader aborts the whole load)
# With --verify every row is checked against the real loader (LD_DEBUG=libs,files or the link_map of the live
# process) and a column PASS/FAIL is added; exit status 1 on any FAIL.
# Needs: bash, gcc, binutils, python3 (only for --verify), optional: gcc -m32, musl-gcc, root (chroot rows).
set -u
[ $# -ge 1 ] || { echo "usage: $0 DIR [--verify]" >&2; exit 2; }
mkdir -p "$1"; D=$(cd "$1" && pwd -P); VERIFY=0; [ "${2:-}" = --verify ] && VERIFY=1
unset LD_LIBRARY_PATH LD_PRELOAD LD_AUDIT LD_DEBUG
export LC_ALL=C
cd "$D" || exit 2
TSV=$D/cases.tsv; : > "$TSV"
INTERP=$(LC_ALL=C readelf -lW /bin/sh | sed -n 's/.*Requesting program interpreter: \(.*\)\]/\1/p')
LIBDST=$($INTERP --list-diagnostics 2>/dev/null | sed -n 's/^dl_dst_lib="\(.*\)"/\1/p'); : "${LIBDST:=lib/x86_64-linux-gnu}"
PLATFORM=$($INTERP --list-diagnostics 2>/dev/null | sed -n 's/^dl_platform="\(.*\)"/\1/p')
HWCAP=$($INTERP --help 2>/dev/null | sed -n 's/^  \([^ ]*\) (supported, searched)$/\1/p' | grep '^x86-64-v' | head -1)
mkdir -p stub
cat > stub/dynpatch.c <<'C'
/* dynpatch FILE OLDTAG NEWTAG : change the tag of the first matching .dynamic entry (64-bit LE).
   dynpatch FILE TAG =VAL      : set d_val of the first entry with that tag.
   dynpatch FILE @OFF HEX      : overwrite bytes at file offset OFF. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int c, char **v) {
  FILE *f = fopen(v[1], "r+b"); if (!f || c < 4) return 1;
  if (v[2][0] == '@') { long o = strtol(v[2] + 1, 0, 0); fseek(f, o, SEEK_SET);
    for (char *p = v[3]; *p; p += 2) { char b[3] = {p[0], p[1], 0}; fputc((int)strtol(b, 0, 16), f); } fclose(f); return 0; }
  Elf64_Ehdr e; fread(&e, sizeof e, 1, f); long o = strtol(v[2], 0, 0), n = strtol(v[3], 0, 0);
  for (int i = 0; i < e.e_phnum; i++) { Elf64_Phdr p; fseek(f, e.e_phoff + i * sizeof p, SEEK_SET); fread(&p, sizeof p, 1, f);
    if (p.p_type != PT_DYNAMIC) continue;
    for (unsigned j = 0; j < p.p_filesz / sizeof(Elf64_Dyn); j++) { Elf64_Dyn d; long at = p.p_offset + j * sizeof d;
      fseek(f, at, SEEK_SET); fread(&d, sizeof d, 1, f);
      if (d.d_tag == o) { if (v[3][0] == '=') d.d_un.d_val = strtol(v[3] + 1, 0, 0); else d.d_tag = n; fseek(f, at, SEEK_SET); fwrite(&d, sizeof d, 1, f); fclose(f); return 0; } } }
  return 1; }
C
gcc -O1 -w -o stub/dynpatch stub/dynpatch.c || exit 2
echo 'int stub_dummy;' > stub/e.c
gcc -fPIC -c -o stub/e.o stub/e.c
printf '__asm__(".globl _start\\n_start: mov $60,%%eax; xor %%edi,%%edi; syscall");\n' > stub/s.c
gcc -fPIE -c -o stub/s.o stub/s.c
cat > stub/dl.c <<'C'
/* generic process: dlopen each argument ("lib:NAME" = let the already loaded caller library do it through
   its do_dlopen()), print the link_map chain, READY, then sleep. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int c, char **v) {
  for (int i = 1; i < c; i++) {
    void *h; char *a = v[i];
    if (!strncmp(a, "via:", 4)) { void *(*f)(const char *) = (void *(*)(const char *))dlsym(RTLD_DEFAULT, "do_dlopen");
      h = f ? f(a + 4) : 0; }
    else if (!strncmp(a, "ns:", 3)) h = dlmopen(LM_ID_NEWLM, a + 3, RTLD_NOW);
    else if (!strncmp(a, "rm:", 3)) { unlink(a + 3); continue; }
    else if (!strncmp(a, "mv:", 3)) { char *e = strchr(a + 3, '='); *e = 0; rename(a + 3, e + 1); continue; }
    else if (!strncmp(a, "cd:", 3)) { if (chdir(a + 3)) return 1; continue; }
    else if (!strncmp(a, "setllp:", 7)) { setenv("LD_LIBRARY_PATH", a + 7, 1); continue; }
    else h = dlopen(a, RTLD_NOW);
    printf("DLOPEN\t%s\t%s\n", a, h ? "ok" : dlerror());
    if (h) { struct link_map *m; dlinfo(h, RTLD_DI_LINKMAP, &m); printf("HANDLE\t%s\t%s\n", a, m->l_name); }
  }
  struct link_map *m; dlinfo(dlopen(0, RTLD_NOW), RTLD_DI_LINKMAP, &m);
  for (; m; m = m->l_next) printf("OBJ\t%s\n", m->l_name);
  puts("READY"); fflush(stdout);
  if (getenv("ELFCASE_HOLD")) sleep(atoi(getenv("ELFCASE_HOLD")));
  return 0; }
C
echo '#include <dlfcn.h>
void *do_dlopen(const char *n) { return dlopen(n, RTLD_NOW); }' > stub/caller.c

# st NAME: make a link-time stub whose SONAME is NAME (so that NEEDED=NAME can be written at will)
nst=0
st() { nst=$((nst+1)); STUB=stub/$nst.so; gcc -shared -nostdlib -o $STUB stub/e.o ${1:+"-Wl,-soname,$1"}; }
# lib OUT SONAME|- "NEEDED..." [ldflags...]      exe OUT "NEEDED..." [ldflags...]
lib() { local o=$1 s=$2 n=$3; shift 3; mkdir -p "$(dirname "$o")"; local l=(); local x
  for x in $n; do st "$x"; l+=("$STUB"); done
  [ "$s" = - ] || l+=("-Wl,-soname,$s")
  gcc -shared -nostdlib -o "$o" stub/e.o -Wl,--no-as-needed "${l[@]}" "$@"; }
exe() { local o=$1 n=$2; shift 2; mkdir -p "$(dirname "$o")"; local l=(); local x
  for x in $n; do st "$x"; l+=("$STUB"); done
  gcc -pie -nostdlib -nostartfiles -o "$o" stub/s.o -Wl,--no-as-needed "${l[@]}" "$@"; }
RP=-Wl,--disable-new-dtags; RU=-Wl,--enable-new-dtags
# row CASE KIND ENV CWD ROOT REQUESTER NEEDED EXPECTED HOW LAUNCH
row() { local IFS=$'\t'; echo "$*" >> "$TSV"; }
ex() { # CASE ENV CWD ROOT REQUESTER NEEDED EXPECTED HOW   (kind exec, launch = root)
  row "$1" exec "$2" "$3" "$4" "$5" "$6" "$7" "$8" "$4"; }

# ---------------------------------------------------------------- 1. basic sources and their order
c=c01_runpath; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/lib'; lib $c/lib/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so $D/$c/lib/libb.so runpath
c=c02_rpath; exe $c/exe libb.so $RP '-Wl,-rpath,$ORIGIN/lib'; lib $c/lib/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so $D/$c/lib/libb.so rpath
c=c03_rpath_beats_env; exe $c/exe libb.so $RP '-Wl,-rpath,$ORIGIN/r'; lib $c/r/libb.so libb.so ""; lib $c/e/libb.so libb.so ""
ex $c LD_LIBRARY_PATH=$D/$c/e $D $D/$c/exe $D/$c/exe libb.so $D/$c/r/libb.so rpath
c=c04_env_beats_runpath; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/r'; lib $c/r/libb.so libb.so ""; lib $c/e/libb.so libb.so ""
ex $c LD_LIBRARY_PATH=$D/$c/e $D $D/$c/exe $D/$c/exe libb.so $D/$c/e/libb.so LD_LIBRARY_PATH
c=c05_both_tags; exe $c/exe libb.so $RP '-Wl,-rpath,$ORIGIN/r' '-Wl,-soname,$ORIGIN/u'; stub/dynpatch $c/exe 14 29
lib $c/r/libb.so libb.so ""; lib $c/u/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so $D/$c/u/libb.so runpath
c=c06_both_tags_env; exe $c/exe libb.so $RP '-Wl,-rpath,$ORIGIN/r' '-Wl,-soname,$ORIGIN/u'; stub/dynpatch $c/exe 14 29
lib $c/r/libb.so libb.so ""; lib $c/e/libb.so libb.so ""
ex $c LD_LIBRARY_PATH=$D/$c/e $D $D/$c/exe $D/$c/exe libb.so $D/$c/e/libb.so LD_LIBRARY_PATH
# ---------------------------------------------------------------- 2. inheritance
c=c07_runpath_not_inherited; exe $c/exe liba.so $RU '-Wl,-rpath,$ORIGIN/lib'; lib $c/lib/liba.so liba.so libb.so; lib $c/lib/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe liba.so $D/$c/lib/liba.so runpath
ex $c "" $D $D/$c/exe $D/$c/lib/liba.so libb.so MISSING -
c=c08_rpath_inherited; exe $c/exe liba.so $RP '-Wl,-rpath,$ORIGIN/lib'; lib $c/lib/liba.so liba.so libb.so; lib $c/lib/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/lib/liba.so libb.so $D/$c/lib/libb.so "rpath of exe"
c=c09_own_rpath_first; exe $c/exe liba.so $RP '-Wl,-rpath,$ORIGIN:$ORIGIN/first'; lib $c/liba.so liba.so libb.so $RP '-Wl,-rpath,$ORIGIN/second'
lib $c/first/libb.so libb.so ""; lib $c/second/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/liba.so libb.so $D/$c/second/libb.so rpath
c=c10_runpath_hides_inherited_rpath; exe $c/exe liba.so $RP '-Wl,-rpath,$ORIGIN/lib'; lib $c/lib/liba.so liba.so libb.so $RU -Wl,-rpath,/nonexistent; lib $c/lib/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/lib/liba.so libb.so MISSING -
c=c11_runpath_in_middle; exe $c/exe liba.so $RP '-Wl,-rpath,$ORIGIN/lib'; lib $c/lib/liba.so liba.so libb.so $RU '-Wl,-rpath,$ORIGIN'
lib $c/lib/libb.so libb.so libz9.so; lib $c/lib/libz9.so libz9.so ""
ex $c "" $D $D/$c/exe $D/$c/lib/libb.so libz9.so $D/$c/lib/libz9.so "rpath of exe"
c=c12_middle_runpath_not_used; exe $c/exe liba.so $RU '-Wl,-rpath,$ORIGIN/l1'; lib $c/l1/liba.so liba.so libb.so $RU '-Wl,-rpath,$ORIGIN/../l2'
lib $c/l2/libb.so libb.so libz9.so; lib $c/l2/libz9.so libz9.so ""
ex $c "" $D $D/$c/exe $D/$c/l1/liba.so libb.so "$D/$c/l1/../l2/libb.so" runpath
ex $c "" $D $D/$c/exe "$D/$c/l1/../l2/libb.so" libz9.so MISSING -
# ---------------------------------------------------------------- 3. path syntax
c=c14_empty_rpath_element_is_cwd; exe $c/exe libb.so $RU -Wl,-rpath,/nonexistent:; lib $c/w/libb.so libb.so ""
ex $c "" $D/$c/w $D/$c/exe $D/$c/exe libb.so libb.so "runpath (cwd)"
ex $c "" $D $D/$c/exe $D/$c/exe libb.so MISSING -
c=c15_relative_rpath; exe $c/exe libb.so $RU -Wl,-rpath,sub; lib $c/sub/libb.so libb.so ""
ex $c "" $D/$c $D/$c/exe $D/$c/exe libb.so sub/libb.so "runpath (cwd)"
ex $c "" $D $D/$c/exe $D/$c/exe libb.so MISSING -
c=c16_env_trailing_colon_is_cwd; exe $c/exe libb.so; lib $c/w/libb.so libb.so ""
ex $c LD_LIBRARY_PATH=/nonexistent: $D/$c/w $D/$c/exe $D/$c/exe libb.so libb.so "LD_LIBRARY_PATH (cwd)"
c=c17_env_empty_is_unset; exe $c/exe libb.so; lib $c/w/libb.so libb.so ""
ex $c LD_LIBRARY_PATH= $D/$c/w $D/$c/exe $D/$c/exe libb.so MISSING -
c=c18_env_semicolon; exe $c/exe libb.so; lib $c/w/libb.so libb.so ""
ex $c "LD_LIBRARY_PATH=/nonexistent;$D/$c/w" $D $D/$c/exe $D/$c/exe libb.so $D/$c/w/libb.so LD_LIBRARY_PATH
c=c19_rpath_semicolon_literal; exe $c/exe libb.so $RU "-Wl,-rpath,/nonexistent;$D/$c/w"; lib $c/w/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so MISSING -
c=c20_origin_braces; exe $c/exe libb.so $RU '-Wl,-rpath,${ORIGIN}/lib//'; lib $c/lib/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so $D/$c/lib/libb.so runpath
c=c21_origin_longer_name_not_token; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGINAL/lib:$ORIGIN_x'; lib $c/lib/libb.so libb.so ""
mkdir -p "$c/cw/\$ORIGINAL/lib"; lib "$c/cw/\$ORIGINAL/lib/libb.so" libb.so ""
ex $c "" $D/$c/cw $D/$c/exe $D/$c/exe libb.so '$ORIGINAL/lib/libb.so' "runpath (cwd, literal dollar)"
c=c23_lib_token; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/$LIB'; lib $c/$LIBDST/libb.so libb.so ""; lib $c/lib/libb.so libb.so ""; lib $c/lib64/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so $D/$c/$LIBDST/libb.so runpath
if [ -n "$PLATFORM" ]; then c=c24_platform_token; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/${PLATFORM}'; lib $c/$PLATFORM/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so $D/$c/$PLATFORM/libb.so runpath; fi
c=c25_env_origin_token; exe $c/exe liba.so $RU '-Wl,-rpath,$ORIGIN/l'; lib $c/l/liba.so liba.so libb.so; lib $c/lib/libb.so libb.so ""; lib $c/l/lib/libb.so libb.so ""
ex $c 'LD_LIBRARY_PATH=$ORIGIN/lib' $D $D/$c/exe $D/$c/l/liba.so libb.so $D/$c/lib/libb.so "LD_LIBRARY_PATH (ORIGIN of the exe)"
c=c26_dir_with_odd_chars; mkdir -p "$c/a b[1]'q"; exe $c/exe libb.so $RU "-Wl,-rpath,\$ORIGIN/a b[1]'q"; lib "$c/a b[1]'q/libb.so" libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so "$D/$c/a b[1]'q/libb.so" runpath
# ---------------------------------------------------------------- 4. names
c=c27_needed_absolute; lib $c/x/libb.so libb.so ""; exe $c/exe $D/$c/x/libb.so
ex $c "" $D $D/$c/exe $D/$c/exe $D/$c/x/libb.so $D/$c/x/libb.so direct
c=c28_needed_relative_slash; lib $c/x/libb.so libb.so ""; exe $c/exe x/libb.so $RU '-Wl,-rpath,$ORIGIN'
ex $c "" $D/$c $D/$c/exe $D/$c/exe x/libb.so x/libb.so "direct (cwd)"
ex $c "" $D $D/$c/exe $D/$c/exe x/libb.so MISSING -
c=c29_needed_origin; lib $c/x/libb.so libb.so ""; exe $c/exe '$ORIGIN/x/libb.so'
ex $c "" $D $D/$c/exe $D/$c/exe '$ORIGIN/x/libb.so' $D/$c/x/libb.so direct
c=c30_needed_empty_string; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN'; stub/dynpatch $c/exe 1 =0
ex $c "" $D $D/$c/exe $D/$c/exe "" EXE "already loaded (the exe's l_name is empty)"
c=c31_needed_with_space; lib "$c/lib b]c.so" "lib b]c.so" ""; nst=$((nst+1)); gcc -shared -nostdlib -o stub/$nst.so stub/e.o "-Wl,-soname,lib b]c.so"
mkdir -p $c; gcc -pie -nostdlib -nostartfiles -o $c/exe stub/s.o -Wl,--no-as-needed stub/$nst.so $RU '-Wl,-rpath,$ORIGIN'
ex $c "" $D $D/$c/exe $D/$c/exe "lib b]c.so" "$D/$c/lib b]c.so" runpath
# ---------------------------------------------------------------- 5. identity: SONAME, inode, first wins
c=c32_first_loaded_wins_bfs; exe $c/exe "liba.so libb.so" $RU '-Wl,-rpath,$ORIGIN'; lib $c/liba.so liba.so libz9.so $RU '-Wl,-rpath,$ORIGIN/d1'; lib $c/libb.so libb.so libz9.so $RU '-Wl,-rpath,$ORIGIN/d2'
lib $c/d1/libz9.so libz9.so ""; lib $c/d2/libz9.so libz9.so ""
ex $c "" $D $D/$c/exe $D/$c/liba.so libz9.so $D/$c/d1/libz9.so runpath
ex $c "" $D $D/$c/exe $D/$c/libb.so libz9.so $D/$c/d1/libz9.so "already loaded"
c=c34_late_sibling_saves_missing_path; exe $c/exe "liba.so libz9.so" $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/liba.so liba.so libz9.so; lib $c/d/libz9.so libz9.so ""
ex $c "" $D $D/$c/exe $D/$c/d/liba.so libz9.so $D/$c/d/libz9.so "already loaded"
c=c35_soname_differs_from_file; exe $c/exe "liba.so" $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/liba.so libreal.so.7 "" ; exe $c/exe "liba.so libb.so" $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/libb.so libb.so libreal.so.7
ex $c "" $D $D/$c/exe $D/$c/d/libb.so libreal.so.7 $D/$c/d/liba.so "already loaded (SONAME)"
c=c36_same_inode_symlink; exe $c/exe "libp.so libq.so" $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/libreal.so - ""; ln -sf libreal.so $c/d/libp.so; ln -sf libreal.so $c/d/libq.so
ex $c "" $D $D/$c/exe $D/$c/exe libp.so $D/$c/d/libp.so runpath
ex $c "" $D $D/$c/exe $D/$c/exe libq.so $D/$c/d/libp.so "already loaded (inode)"
c=c38_two_copies_same_content; exe $c/exe "libp.so libq.so" $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/libp.so - ""; cp $c/d/libp.so $c/d/libq.so
ex $c "" $D $D/$c/exe $D/$c/exe libq.so $D/$c/d/libq.so runpath
c=c40_cycle; exe $c/exe "liba.so" $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/liba.so liba.so libb.so $RU '-Wl,-rpath,$ORIGIN'; lib $c/d/libb.so libb.so liba.so
ex $c "" $D $D/$c/exe $D/$c/d/libb.so liba.so $D/$c/d/liba.so "already loaded"
c=c41_interp_by_soname; exe $c/exe "$(basename $INTERP)" $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/$(basename $INTERP) $(basename $INTERP) ""
ex $c "" $D $D/$c/exe $D/$c/exe $(basename $INTERP) $INTERP "already loaded (interpreter)"
c=c42_versioned_soname_new; exe $c/exe "libv.so.2" $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/libv.so.1 libv.so.1 ""; ln -sf libv.so.1 $c/d/libv.so.2
ex $c "" $D $D/$c/exe $D/$c/exe libv.so.2 $D/$c/d/libv.so.2 runpath
# ---------------------------------------------------------------- 6. symlinks and $ORIGIN
c=c44_symlinked_lib_origin_is_link; exe $c/exe libg.so $RU '-Wl,-rpath,$ORIGIN/b'; lib $c/a/libg.so libg.so libf.so $RU '-Wl,-rpath,$ORIGIN'; lib $c/a/libf.so libf.so ""; mkdir -p $c/b; ln -sf ../a/libg.so $c/b/libg.so
ex $c "" $D $D/$c/exe $D/$c/b/libg.so libf.so MISSING -
c=c45_symlinked_dir; exe $c/exe libg.so $RU '-Wl,-rpath,$ORIGIN/b'; lib $c/a/x/libg.so libg.so libf.so $RU '-Wl,-rpath,$ORIGIN/../y'; lib $c/a/y/libf.so libf.so ""; ln -sfn a/x $c/b
ex $c "" $D $D/$c/exe $D/$c/b/libg.so libf.so "$D/$c/b/../y/libf.so" "runpath (.. resolved by the kernel through the link)"
# ---------------------------------------------------------------- 7. files that must be skipped, and those that kill the load
if gcc -m32 -shared -nostdlib -o stub/t32.so stub/e.c 2>/dev/null; then c=c46_wrong_class_skipped; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1:$ORIGIN/d2'; mkdir -p $c/d1; cp stub/t32.so $c/d1/libb.so; lib $c/d2/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so $D/$c/d2/libb.so runpath; fi
c=c47_wrong_machine_skipped; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1:$ORIGIN/d2'; lib $c/d1/libb.so libb.so ""; stub/dynpatch $c/d1/libb.so @18 b700; lib $c/d2/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so $D/$c/d2/libb.so runpath
c=c48_text_file_fatal; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1:$ORIGIN/d2'; mkdir -p $c/d1; { echo '/* GNU ld script */ INPUT(libb.so.1)'; head -c 200 /dev/zero | tr '\0' ' '; } > $c/d1/libb.so; lib $c/d2/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so "FATAL:invalid ELF header" -
c=c49_empty_file_fatal; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1:$ORIGIN/d2'; mkdir -p $c/d1; : > $c/d1/libb.so; lib $c/d2/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so "FATAL:file too short" -
c=c50_directory_fatal; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1:$ORIGIN/d2'; mkdir -p $c/d1/libb.so; lib $c/d2/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so "FATAL:cannot read file data: Error 21" -
c=c51_bad_osabi_fatal; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1:$ORIGIN/d2'; lib $c/d1/libb.so libb.so ""; stub/dynpatch $c/d1/libb.so @7 09; lib $c/d2/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so "FATAL:ELF file OS ABI invalid" -
c=c52_osabi_gnu_ok; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1:$ORIGIN/d2'; lib $c/d1/libb.so libb.so ""; stub/dynpatch $c/d1/libb.so @7 03; lib $c/d2/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so $D/$c/d1/libb.so runpath
c=c53_dangling_symlink_skipped; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1:$ORIGIN/d2'; mkdir -p $c/d1; ln -sf nothere $c/d1/libb.so; lib $c/d2/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so $D/$c/d2/libb.so runpath
c=c55_dir_entry_is_a_file; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/f:$ORIGIN/d2'; : > $c/f; lib $c/d2/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so $D/$c/d2/libb.so runpath
c=c56_et_rel_fatal; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1:$ORIGIN/d2'; mkdir -p $c/d1; cp stub/e.o $c/d1/libb.so; lib $c/d2/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so "FATAL:only ET_DYN and ET_EXEC can be loaded" -
# ---------------------------------------------------------------- 8. hwcaps, NODEFLIB, filters, preload, audit
if [ -n "$HWCAP" ]; then c=c57_hwcaps_subdir; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/libb.so libb.so ""; lib $c/d/glibc-hwcaps/$HWCAP/libb.so libb.so ""; lib $c/d/glibc-hwcaps/x86-64-v2/libb.so libb.so ""; lib $c/d/glibc-hwcaps/x86-64-v9/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so $D/$c/d/glibc-hwcaps/$HWCAP/libb.so "runpath (hwcaps)"
c=c58_hwcaps_first_dir_wins; exe $c/exe libb.so; lib $c/d1/libb.so libb.so ""; lib $c/d2/glibc-hwcaps/$HWCAP/libb.so libb.so ""
ex $c LD_LIBRARY_PATH=$D/$c/d1:$D/$c/d2 $D $D/$c/exe $D/$c/exe libb.so $D/$c/d1/libb.so LD_LIBRARY_PATH; fi
c=c59_nodeflib; exe $c/exe liba.so $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/liba.so liba.so libc.so.6 -Wl,-z,nodefaultlib
ex $c "" $D $D/$c/exe $D/$c/d/liba.so libc.so.6 MISSING -
c=c60_filter_loads_filtee; exe $c/exe liba.so $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/liba.so liba.so "" $RU '-Wl,-rpath,$ORIGIN' -Wl,-F,libfiltee.so; lib $c/d/libfiltee.so libfiltee.so ""
ex $c "" $D $D/$c/exe $D/$c/d/liba.so libfiltee.so $D/$c/d/libfiltee.so "runpath (DT_FILTER)"
c=c62_preload_satisfies_by_soname; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/libb.so libb.so ""; lib $c/p/myalt.so libb.so ""
ex $c LD_PRELOAD=$D/$c/p/myalt.so $D $D/$c/exe $D/$c/exe libb.so $D/$c/p/myalt.so "already loaded (LD_PRELOAD, SONAME)"
c=c63_preload_bare_name_uses_exe_runpath; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/libb.so libb.so ""; lib $c/d/libpre.so - ""
ex $c LD_PRELOAD=libpre.so $D $D/$c/exe $D/$c/exe libpre.so $D/$c/d/libpre.so "preload, runpath of exe"
c=c64_preload_missing_is_warning; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/libb.so libb.so ""
ex $c "LD_PRELOAD=/nonexistent.so:libnone.so" $D $D/$c/exe $D/$c/exe libb.so $D/$c/d/libb.so runpath
c=c66_default_dir_no_path; exe $c/exe libc.so.6
ex $c "" $D $D/$c/exe $D/$c/exe libc.so.6 /$LIBDST/libc.so.6 "ld.so.cache"
c=c67_missing_now_loaded_later; exe $c/exe "liba.so libb.so" $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/liba.so liba.so libz9.so; lib $c/d/libb.so libb.so libz9.so $RU '-Wl,-rpath,$ORIGIN/z'; lib $c/d/z/libz9.so libz9.so ""
ex $c "" $D $D/$c/exe $D/$c/d/liba.so libz9.so MISSING "the loader aborts here although libb.so would find it"
ex $c "" $D $D/$c/exe $D/$c/d/libb.so libz9.so $D/$c/d/z/libz9.so runpath
if $INTERP --help 2>/dev/null | grep -q 'Legacy HWCAP'; then c=c70_legacy_hwcaps_tls; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/libb.so libb.so ""; lib $c/d/tls/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so $D/$c/d/tls/libb.so "runpath (legacy hwcaps, glibc <= 2.36 only)"; fi
c=c71_pie_as_library_fatal; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1:$ORIGIN/d2'; exe $c/d1/libb.so ""; lib $c/d2/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so "FATAL:cannot dynamically load position-independent executable" -
if [ -e stub/t32.so ]; then c=c72_only_wrong_class; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1'; mkdir -p $c/d1; cp stub/t32.so $c/d1/libb.so
ex $c "" $D $D/$c/exe $D/$c/exe libb.so MISSING "loader text: wrong ELF class: ELFCLASS32"; fi
if ! $INTERP --help 2>/dev/null | grep -q 'x86-64-v4 (supported'; then c=c73_isa_level_fatal; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1:$ORIGIN/d2'; lib $c/d1/libb.so libb.so "" -Wl,-z,x86-64-v4; lib $c/d2/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so $D/$c/d1/libb.so "runpath; then the load dies: CPU ISA level is lower than required"; fi
c=c74_preload_origin_token; exe $c/exe "" ; lib $c/p/libpre.so - ""
ex $c 'LD_PRELOAD=$ORIGIN/p/libpre.so' $D $D/$c/exe $D/$c/exe '$ORIGIN/p/libpre.so' $D/$c/p/libpre.so "preload"
c=c75_no_dynamic_section_fatal; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1:$ORIGIN/d2'; mkdir -p $c/d1; printf '__asm__(".globl _start\\n_start: hlt");' > stub/n.c; gcc -static -no-pie -nostdlib -o $c/d1/libb.so stub/n.c; stub/dynpatch $c/d1/libb.so @16 0300; lib $c/d2/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libb.so "FATAL:object file has no dynamic section" -
c=c76_dir_with_newline; mkdir -p "$c/a
b"; exe $c/exe libb.so $RU "-Wl,-rpath,\$ORIGIN/d"; lib "$c/a
b/libb.so" libb.so ""; ln -sfn "a
b" $c/d
ex $c "" $D $D/$c/exe $D/$c/exe libb.so "$D/$c/d/libb.so" "runpath; /proc/PID/maps shows a\\012b"
c=c78_needed_twice; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d' '-Wl,-soname,libq9.so'; stub/dynpatch $c/exe 14 1; lib $c/d/libb.so libb.so ""; lib $c/d/libq9.so libq9.so ""
ex $c "" $D $D/$c/exe $D/$c/exe libq9.so $D/$c/d/libq9.so "runpath (NEEDED entries need not be adjacent)"
c=c13_empty_runpath_hides_rpath; exe $c/exe libb.so $RP '-Wl,-rpath,$ORIGIN/r' -Wl,-soname,x; lib $c/r/libb.so libb.so ""; stub/dynpatch $c/exe 14 29; stub/dynpatch $c/exe 29 =0
ex $c "" $D $D/$c/exe $D/$c/exe libb.so MISSING -
c=c39_soname_of_exe; exe $c/exe liba.so $RU '-Wl,-rpath,$ORIGIN/d' -Wl,-soname,libself.so; lib $c/d/liba.so liba.so libself.so
ex $c "" $D $D/$c/exe $D/$c/d/liba.so libself.so EXE "already loaded (SONAME)"
c=c54_link_loop_ends_the_list; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d2'; mkdir -p $c/d1 $c/d3; ln -sfn libb.so $c/d1/libb.so; lib $c/d2/libb.so libb.so ""; lib $c/d3/libb.so libb.so ""
ex $c LD_LIBRARY_PATH=$D/$c/d1:$D/$c/d3 $D $D/$c/exe $D/$c/exe libb.so $D/$c/d2/libb.so runpath
c=c61_missing_auxiliary_is_ignored; exe $c/exe liba.so $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/liba.so liba.so libb.so $RU '-Wl,-rpath,$ORIGIN' -Wl,-f,libnone.so; lib $c/d/libb.so libb.so ""
ex $c "" $D $D/$c/exe $D/$c/d/liba.so libnone.so MISSING -
ex $c "" $D $D/$c/exe $D/$c/d/liba.so libb.so $D/$c/d/libb.so runpath
c=c69_nodeflib_is_not_inherited; exe $c/exe liba.so $RU '-Wl,-rpath,$ORIGIN/d' -Wl,-z,nodefaultlib; lib $c/d/liba.so liba.so libc.so.6
ex $c "" $D $D/$c/exe $D/$c/d/liba.so libc.so.6 /$LIBDST/libc.so.6 "ld.so.cache"
c=c80_static_program_fatal; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1'; mkdir -p $c/d1; printf '__asm__(".globl _start\\n_start: hlt");' > stub/n.c; gcc -static -no-pie -nostdlib -o $c/d1/libb.so stub/n.c
ex $c "" $D $D/$c/exe $D/$c/exe libb.so "FATAL:cannot dynamically load executable" -
c=c81_other_byte_order_fatal; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1'; lib $c/d1/libb.so libb.so ""; stub/dynpatch $c/d1/libb.so @5 02
ex $c "" $D $D/$c/exe $D/$c/exe libb.so "FATAL:ELF file data encoding not little-endian" -
c=c82_padding_fatal; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1'; lib $c/d1/libb.so libb.so ""; stub/dynpatch $c/d1/libb.so @12 01
ex $c "" $D $D/$c/exe $D/$c/exe libb.so "FATAL:nonzero padding in e_ident" -
c=c83_phentsize_fatal; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1'; lib $c/d1/libb.so libb.so ""; stub/dynpatch $c/d1/libb.so @54 20
ex $c "" $D $D/$c/exe $D/$c/exe libb.so "FATAL:ELF file's phentsize not the expected size" -
c=c84_abi_version_fatal; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1'; lib $c/d1/libb.so libb.so ""; stub/dynpatch $c/d1/libb.so @8 07
ex $c "" $D $D/$c/exe $D/$c/exe libb.so "FATAL:ELF file ABI version invalid" -
# ---------------------------------------------------------------- 9. live processes: dlopen
mk() { gcc -w -o "$1" stub/dl.c -Wl,--no-as-needed "${@:2}"; }
prc() { # CASE ENV CWD ROOT REQUESTER NEEDED EXPECTED HOW LAUNCH...
  row "$1" proc "$2" "$3" "$4" "$5" "$6" "$7" "$8" "$9"; }
c=p01_dlopen_uses_callers_runpath; mkdir -p $c/l $c/d; gcc -w -shared -fPIC -o $c/l/libcaller.so stub/caller.c -Wl,-soname,libcaller.so $RU '-Wl,-rpath,$ORIGIN/../d'; lib $c/d/libplug.so libplug.so ""
mk $c/exe $c/l/libcaller.so $RU '-Wl,-rpath,$ORIGIN/l'
prc $c "" $D $D/$c/exe $D/$c/l/libcaller.so libplug.so "$D/$c/l/../d/libplug.so" "dlopen, runpath of the calling object" "$D/$c/exe via:libplug.so"
prc $c "" $D $D/$c/exe $D/$c/exe libplug.so MISSING "dlopen, runpath of the calling object" "$D/$c/exe libplug.so"
c=p03_dlopened_lib_gets_exe_rpath; mkdir -p $c/d $c/e; lib $c/d/libplug.so libplug.so libq9.so; lib $c/e/libq9.so libq9.so ""; mk $c/exe $RP '-Wl,-rpath,$ORIGIN/e'
prc $c "" $D $D/$c/exe $D/$c/d/libplug.so libq9.so $D/$c/e/libq9.so "rpath of exe" "$D/$c/exe $D/$c/d/libplug.so"
c=p05_dlopen_origin_token; mkdir -p $c/l; gcc -w -shared -fPIC -o $c/l/libcaller.so stub/caller.c -Wl,-soname,libcaller.so; lib $c/l/sub/libplug.so libplug.so ""; mk $c/exe $c/l/libcaller.so $RU '-Wl,-rpath,$ORIGIN/l'
prc $c "" $D $D/$c/exe $D/$c/l/libcaller.so '$ORIGIN/sub/libplug.so' $D/$c/l/sub/libplug.so "dlopen, ORIGIN of the caller" "$D/$c/exe via:\$ORIGIN/sub/libplug.so"
c=p06_dlopen_order_decides; mkdir -p $c; lib $c/a/liba.so liba.so libz9.so $RU '-Wl,-rpath,$ORIGIN'; lib $c/a/libz9.so libz9.so ""; lib $c/b/libb.so libb.so libz9.so $RU '-Wl,-rpath,$ORIGIN'; lib $c/b/libz9.so libz9.so ""; mk $c/exe
prc $c "" $D $D/$c/exe $D/$c/b/libb.so libz9.so $D/$c/a/libz9.so "already loaded" "$D/$c/exe $D/$c/a/liba.so $D/$c/b/libb.so"
prc $c "" $D $D/$c/exe $D/$c/a/liba.so libz9.so $D/$c/b/libz9.so "already loaded" "$D/$c/exe $D/$c/b/libb.so $D/$c/a/liba.so"
c=p07_setenv_after_start_is_ignored; mkdir -p $c/d; lib $c/d/libplug.so libplug.so ""; mk $c/exe
prc $c "" $D $D/$c/exe $D/$c/exe libplug.so MISSING - "$D/$c/exe setllp:$D/$c/d libplug.so"
c=p08_chdir_then_relative; mkdir -p $c/d; lib $c/d/libplug.so libplug.so ""; mk $c/exe
prc $c "" $D $D/$c/exe $D/$c/exe ./libplug.so ./libplug.so "direct (cwd at dlopen time; l_name stays relative)" "$D/$c/exe cd:$D/$c/d ./libplug.so cd:/"
c=p09_deleted_after_load; mkdir -p $c/d; lib $c/d/libplug.so libplug.so ""; mk $c/exe
prc $c "" $D $D/$c/exe $D/$c/exe $D/$c/d/libplug.so.tmp $D/$c/d/libplug.so.tmp "direct; maps says (deleted)" "$D/$c/exe $D/$c/d/libplug.so.tmp rm:$D/$c/d/libplug.so.tmp"; cp $c/d/libplug.so $c/d/libplug.so.tmp
c=p10_replaced_after_load; mkdir -p $c/d; lib $c/d/libold.so libplug.so ""; lib $c/d/libnew.so libplug.so ""; cp $c/d/libold.so $c/d/libplug.so; cp $c/d/libnew.so $c/d/libnew.tmp; mk $c/exe
prc $c "" $D $D/$c/exe $D/$c/exe $D/$c/d/libplug.so $D/$c/d/libplug.so "direct; the path now names another inode" "$D/$c/exe $D/$c/d/libplug.so mv:$D/$c/d/libnew.tmp=$D/$c/d/libplug.so"
c=p11_dlmopen_new_namespace; mkdir -p $c/d; lib $c/d/libplug.so libplug.so libc.so.6; mk $c/exe
prc $c "" $D $D/$c/exe $D/$c/exe $D/$c/d/libplug.so $D/$c/d/libplug.so "direct (dlmopen: second namespace with its own libc.so.6)" "$D/$c/exe ns:$D/$c/d/libplug.so"
c=p13_explicit_loader_library_path; mkdir -p $c/d; lib $c/d/libplug.so libplug.so ""; mk $c/exe
prc $c LD_LIBRARY_PATH=/nonexistent $D $D/$c/exe $D/$c/exe libplug.so $D/$c/d/libplug.so "--library-path overrides LD_LIBRARY_PATH" "$INTERP --library-path $D/$c/d $D/$c/exe libplug.so"
c=p14_custom_interp; mkdir -p $c; cp -L $INTERP $c/my-ld.so; mk $c/exe -Wl,--dynamic-linker=$D/$c/my-ld.so
prc $c "" $D $D/$c/exe $D/$c/exe libc.so.6 /$LIBDST/libc.so.6 "ld.so.cache; interpreter is $D/$c/my-ld.so" "$D/$c/exe"
c=p15_dlopen_second_path_same_inode; lib $c/d1/libx.so libx.so ""; mkdir -p $c/d2; ln -f $c/d1/libx.so $c/d2/libx.so; mk $c/exe
prc $c "" $D $D/$c/exe $D/$c/exe $D/$c/d2/libx.so $D/$c/d1/libx.so "already loaded (inode)" "$D/$c/exe $D/$c/d1/libx.so $D/$c/d2/libx.so"
c=p17_audit_lib_in_other_namespace; mkdir -p $c; echo 'unsigned la_version(unsigned v){return v;}' > $c/a.c; gcc -w -shared -fPIC -o $c/libaud.so $c/a.c -Wl,-soname,libaud.so; mk $c/exe
prc $c LD_AUDIT=$D/$c/libaud.so $D $D/$c/exe $D/$c/exe libc.so.6 /$LIBDST/libc.so.6 "ld.so.cache; libaud.so is mapped but not in the base link_map" "$D/$c/exe"
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then c=n01_mount_namespace; mkdir -p $c/real $c/mnt; lib $c/real/libx.so libx.so ""; lib $c/mnt/libx.so libWRONG.so ""; mk $c/exe
printf '#!/bin/sh\nmount --bind %s %s && exec %s %s\n' $D/$c/real $D/$c/mnt $D/$c/exe $D/$c/mnt/libx.so > $c/run.sh; chmod +x $c/run.sh
row $c ns "" $D $D/$c/exe $D/$c/exe $D/$c/mnt/libx.so $D/$c/mnt/libx.so "direct; only /proc/PID/root shows the file that is loaded (SONAME libx.so, outside it is libWRONG.so)" "unshare -m $D/$c/run.sh"; fi
# ---------------------------------------------------------------- 10. chroot: cache formats, NODEFLIB+cache, preload file
if [ "$(id -u)" = 0 ]; then
R=$D/root; mkdir -p $R/bin $R/etc $R/opt/cached $R/opt/cached2 $R$(dirname $INTERP) $R/$LIBDST $R/usr/$LIBDST $R/usr/lib $R/lib
cp -L $INTERP $R$INTERP
ch() { row "$1" chroot "$2" / "$3" "$4" "$5" "$6" "$7" "chroot $R $3"; }
lib $R/opt/cached/libcached.so.1 libcached.so.1 ""; exe $R/bin/e1 libcached.so.1
ch k01_cache_hit "" /bin/e1 /bin/e1 libcached.so.1 /opt/cached/libcached.so.1 ld.so.cache
exe $R/bin/e2 libcached.so.1 -Wl,-z,nodefaultlib
ch k02_nodeflib_still_uses_foreign_cache_entries "" /bin/e2 /bin/e2 libcached.so.1 /opt/cached/libcached.so.1 "ld.so.cache (entry outside the system dirs)"
lib $R/usr/lib/libsys.so.1 libsys.so.1 ""; exe $R/bin/e3 libsys.so.1 -Wl,-z,nodefaultlib
ch k03_nodeflib_drops_system_cache_entries "" /bin/e3 /bin/e3 libsys.so.1 MISSING -
exe $R/bin/e4 libsys.so.1
ch k04_default_dirs_via_cache "" /bin/e4 /bin/e4 libsys.so.1 /lib/libsys.so.1 "ld.so.cache"
lib $R/opt/cached/libstale.so.1 libstale.so.1 ""; lib $R/usr/lib/libfresh_after_ldconfig.so.1 libfresh_after_ldconfig.so.1 ""
exe $R/bin/e5 libstale.so.1
exe $R/bin/e6 libfresh_after_ldconfig.so.1
lib $R/opt/cached2/libdup.so.1 libdup.so.1 ""; lib $R/opt/cached/libdup.so.1 libdup.so.1 ""; exe $R/bin/e7 libdup.so.1
ch k07_two_cached_dirs_conf_order "" /bin/e7 /bin/e7 libdup.so.1 /opt/cached/libdup.so.1 "ld.so.cache (first ld.so.conf dir wins)"
lib $R/opt/cached/libalias_file.so libalias.so.3 ""; exe $R/bin/e8 "libalias.so.3"; exe $R/bin/e8b libalias_file.so
ch k08_cache_key_is_soname "" /bin/e8 /bin/e8 libalias.so.3 /opt/cached/libalias.so.3 "ld.so.cache (ldconfig makes the SONAME link)"
[ -n "$HWCAP" ] && { lib $R/opt/cached/libhw.so.1 libhw.so.1 ""; lib $R/opt/cached/glibc-hwcaps/$HWCAP/libhw.so.1 libhw.so.1 ""; lib $R/opt/cached/glibc-hwcaps/x86-64-v2/libhw.so.1 libhw.so.1 ""; exe $R/bin/e9 libhw.so.1
ch k09_cache_hwcaps "" /bin/e9 /bin/e9 libhw.so.1 /opt/cached/glibc-hwcaps/$HWCAP/libhw.so.1 "ld.so.cache (hwcaps)"; }
lib $R/opt/pre/libpre.so libpre.so ""; echo "# comment
/opt/pre/libpre.so" > $R/etc/ld.so.preload; exe $R/bin/e10 libpre.so
ch k10_ld_so_preload_file "" /bin/e10 /bin/e10 libpre.so /opt/pre/libpre.so "already loaded (/etc/ld.so.preload)"
lib $R/opt/env/libcached.so.1 libcached.so.1 ""
ch k11_env_beats_cache LD_LIBRARY_PATH=/opt/env /bin/e1 /bin/e1 libcached.so.1 /opt/env/libcached.so.1 LD_LIBRARY_PATH
lib $R/usr/lib/special/libspec.so.1 libspec.so.1 ""; exe $R/bin/e16 libspec.so.1 -Wl,-z,nodefaultlib; exe $R/bin/e17 libspec.so.1
ch k16_nodeflib_drops_by_path_prefix "" /bin/e16 /bin/e16 libspec.so.1 MISSING "cache says /usr/lib/special/..., prefix /usr/lib/ is a system dir"
ch k17_same_without_nodeflib "" /bin/e17 /bin/e17 libspec.so.1 /usr/lib/special/libspec.so.1 ld.so.cache
printf '/opt/cached\n/opt/cached2\n/usr/lib/special\n' > $R/etc/ld.so.conf
mkdir -p $R/lib64; [ -e $R/lib/ld-linux-x86-64.so.2 ] || :
rm -rf $R/lib/libsys.so.1; ln -sf ../usr/lib/libsys.so.1 $R/lib/libsys.so.1
/sbin/ldconfig -r $R 2>/dev/null
rm -f $R/opt/cached/libstale.so.1; lib $R/usr/lib/libstale.so.1 libstale.so.1 ""
ch k05_stale_cache_entry_falls_to_default_dir "" /bin/e5 /bin/e5 libstale.so.1 /usr/lib/libstale.so.1 "default dir"
lib $R/usr/lib/libnew2.so.1 libnew2.so.1 ""; exe $R/bin/e6 libnew2.so.1
ch k06_not_in_cache_but_in_default_dir "" /bin/e6 /bin/e6 libnew2.so.1 /usr/lib/libnew2.so.1 "default dir"
R2=$D/root2; rm -rf $R2; cp -a $R $R2; rm -f $R2/etc/ld.so.preload $R2/usr/lib/libnew2.so.1; /sbin/ldconfig -c compat -r $R2 2>/dev/null
row k12_cache_compat_format chroot "" / /bin/e1 /bin/e1 libcached.so.1 /opt/cached/libcached.so.1 "ld.so.cache (old header, new inside)" "chroot $R2 /bin/e1"
R3=$D/root3; rm -rf $R3; cp -a $R2 $R3; /sbin/ldconfig -c old -r $R3 2>/dev/null
row k13_cache_old_format chroot "" / /bin/e1 /bin/e1 libcached.so.1 /opt/cached/libcached.so.1 "ld.so.cache (old format only: magic ld.so-1.7.0)" "chroot $R3 /bin/e1"
R4=$D/root4; rm -rf $R4; cp -a $R2 $R4; rm -f $R4/etc/ld.so.cache
row k14_no_cache chroot "" / /bin/e1 /bin/e1 libcached.so.1 MISSING "ld.so.conf alone is never read by the loader" "chroot $R4 /bin/e1"
[ -n "$HWCAP" ] && row k18_compat_format_has_no_hwcaps chroot "" / /bin/e9 /bin/e9 libhw.so.1 /opt/cached/libhw.so.1 "ld.so.cache" "chroot $R2 /bin/e9"
[ -n "$HWCAP" ] && row k19_old_format_takes_the_first_entry chroot "" / /bin/e9 /bin/e9 libhw.so.1 /opt/cached/glibc-hwcaps/x86-64-v2/libhw.so.1 "ld.so.cache" "chroot $R3 /bin/e9"
row k15_no_cache_default_dirs chroot "" / /bin/e4 /bin/e4 libsys.so.1 /lib/libsys.so.1 "default dir" "chroot $R4 /bin/e4"
fi
# ---------------------------------------------------------------- 11. setuid (AT_SECURE)
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
c=s01_setuid_ignores_env; exe $c/exe libb.so; lib $c/e/libb.so libb.so ""; chmod 4755 $c/exe; chmod 755 $D $D/$c $D/$c/e 2>/dev/null
row $c suid "LD_LIBRARY_PATH=$D/$c/e" $D $D/$c/exe $D/$c/exe libb.so MISSING "AT_SECURE: LD_LIBRARY_PATH ignored" "setpriv --reuid 65534 --clear-groups $D/$c/exe"
c=s03_setuid_absolute_rpath_ok; exe $c/exe libb.so $RU -Wl,-rpath,$D/$c/e; lib $c/e/libb.so libb.so ""; chmod 4755 $c/exe
row $c suid "" $D $D/$c/exe $D/$c/exe libb.so $D/$c/e/libb.so "runpath (AT_SECURE: literal paths stay)" "setpriv --reuid 65534 --clear-groups $D/$c/exe"
fi
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
c=s02_setuid_origin_is_not_trusted; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/e'; lib $c/e/libb.so libb.so ""; chmod 4755 $c/exe
row $c suid "" $D $D/$c/exe $D/$c/exe libb.so MISSING "AT_SECURE: ORIGIN of the program must lie under a system directory" "setpriv --reuid 65534 --clear-groups $D/$c/exe"
c=s04_setuid_preload_needs_the_bit; exe $c/exe libb.so $RU -Wl,-rpath,$D/$c/e; lib $c/e/libb.so libb.so ""; lib $c/e/libpre.so libpre.so ""; chmod 4755 $c/exe
row $c suid LD_PRELOAD=libpre.so $D $D/$c/exe $D/$c/exe libpre.so MISSING "AT_SECURE: a preload needs the set-user-ID bit" "setpriv --reuid 65534 --clear-groups $D/$c/exe"
c=s05_setuid_preload_with_the_bit; exe $c/exe libb.so $RU -Wl,-rpath,$D/$c/e; lib $c/e/libb.so libb.so ""; lib $c/e/libpre.so libpre.so ""; chmod 4755 $c/exe $c/e/libpre.so
row $c suid LD_PRELOAD=libpre.so $D $D/$c/exe $D/$c/exe libpre.so $D/$c/e/libpre.so "preload, runpath" "setpriv --reuid 65534 --clear-groups $D/$c/exe"
c=u01_unreadable_file_is_passed_over; exe $c/exe libb.so $RU '-Wl,-rpath,$ORIGIN/d1:$ORIGIN/d2'; lib $c/d1/libb.so libb.so ""; lib $c/d2/libb.so libb.so ""; chmod 000 $c/d1/libb.so
row $c user "" $D $D/$c/exe $D/$c/exe libb.so $D/$c/d2/libb.so runpath $D/$c/exe
fi
# ---------------------------------------------------------------- 12. musl
if command -v musl-gcc >/dev/null; then
MI=$(ls /lib/ld-musl-*.so.1 2>/dev/null | head -1); ML=-Wl,--dynamic-linker=$MI
mu() { row "$1" musl "$2" "$3" "$4" "$5" "$6" "$7" "$8" "$4"; }
c=m01_env_beats_rpath; exe $c/exe libb.so $ML $RP '-Wl,-rpath,$ORIGIN/r'; lib $c/r/libb.so libb.so ""; lib $c/e/libb.so libb.so ""
mu $c LD_LIBRARY_PATH=$D/$c/e $D $D/$c/exe $D/$c/exe libb.so $D/$c/e/libb.so LD_LIBRARY_PATH
c=m02_runpath_is_inherited; exe $c/exe liba.so $ML $RU '-Wl,-rpath,$ORIGIN/lib'; lib $c/lib/liba.so liba.so libb.so; lib $c/lib/libb.so libb.so ""
mu $c "" $D $D/$c/exe $D/$c/lib/liba.so libb.so $D/$c/lib/libb.so "runpath of exe (inherited by musl)"
c=m04_libc_names_map_to_ldso; exe $c/exe "libpthread.so.0 libm.so.6 libc.so" $ML
mu $c "" $D $D/$c/exe $D/$c/exe libpthread.so.0 $MI "reserved name"
c=m05_same_inode; exe $c/exe "libp.so libq.so" $ML $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/libreal.so - ""; ln -sf libreal.so $c/d/libp.so; ln -sf libreal.so $c/d/libq.so
mu $c "" $D $D/$c/exe $D/$c/exe libq.so $D/$c/d/libp.so "already loaded (inode)"
c=m06_lib_token_disables_whole_rpath; exe $c/exe libb.so $ML $RU '-Wl,-rpath,$ORIGIN/d:$ORIGIN/$LIB'; lib $c/d/libb.so libb.so ""
mu $c "" $D $D/$c/exe $D/$c/exe libb.so MISSING "any token but ORIGIN makes musl ignore the rpath"
c=m07_glibc_hwcaps_unknown; exe $c/exe libb.so $ML $RU '-Wl,-rpath,$ORIGIN/d'; lib $c/d/libb.so libb.so ""; lib $c/d/glibc-hwcaps/${HWCAP:-x86-64-v2}/libb.so libb.so ""
mu $c "" $D $D/$c/exe $D/$c/exe libb.so $D/$c/d/libb.so runpath
c=m09_wrong_machine_not_skipped; exe $c/exe libb.so $ML $RU '-Wl,-rpath,$ORIGIN/d1:$ORIGIN/d2'; mkdir -p $c/d1; printf 'not an elf file%0100d' 0 > $c/d1/libb.so; lib $c/d2/libb.so libb.so ""
mu $c "" $D $D/$c/exe $D/$c/exe libb.so MISSING "musl takes the first openable file, a bad one ends the search"
fi
HDR=$'case\tkind\tenv\tcwd\troot\trequester\tneeded\texpected\thow\tlaunch'
if [ $VERIFY = 0 ]; then echo "$HDR"; cat "$TSV"; exit 0; fi
# ================================================================ verification against the real loaders
cat > $D/verify.py <<'PY'
import os,re,subprocess,sys
def soname(p):
    try: o=subprocess.run(['readelf','-dW',p],capture_output=True,text=True,errors='surrogateescape').stdout
    except Exception: return None
    m=re.search(r'\(SONAME\)\s+Library soname: \[(.*)\]$',o,re.M); return m.group(1) if m else None
def envd(s):
    e={k:v for k,v in os.environ.items() if not k.startswith('LD_')}
    if s:
        k,v=s.split('=',1); e[k]=v
    return e
def real(root,p): return (root+p) if root and p.startswith('/') else p
def parse(log,exe,root,cwd):
    """-> (searched {(req,need):path|None}, order [(name,path)])"""
    searched={}; loaded=[]; req=None; cur=None; tries=[]; gen=False; fatal=None
    def close():
        nonlocal cur,tries,gen
        if cur is None: return
        path=None
        if gen: path=tries[-1] if tries else cur
        elif tries:
            q=real(root,tries[-1]); q=q if q.startswith('/') else os.path.join(cwd,q)
            try:
                st=os.stat(q)
                for n,p in loaded:
                    qq=real(root,p); qq=qq if qq.startswith('/') else os.path.join(cwd,qq)
                    if os.path.samestat(st,os.stat(qq)): path=p
            except OSError: pass
        searched.setdefault((req,cur),path)
        if path: loaded.append((cur,path))
        cur=None; tries=[]; gen=False
    for line in log.split('\n'):
        m=re.match(r'\s*\d+:\s?(.*)$',line)
        t=m.group(1).strip('\t') if m else line
        m=re.match(r'file=(.*) \[\d+\];  (?:needed by|dynamically loaded by) (.*) \[\d+\]$',t)
        if m: close(); cur=m.group(1); req=m.group(2); continue
        m=re.match(r'find library=(.*) \[\d+\]; searching$',t)
        if m:
            if cur is None: cur=m.group(1); req=exe
            continue
        m=re.match(r'\s*trying file=(.*)$',t)
        if m: tries.append(m.group(1)); continue
        m=re.match(r'file=(.*) \[\d+\];  generating link map$',t)
        if m: gen=True; continue
        m=re.match(r'calling init',t)
        if m: close()
    close()
    return searched,loaded
def answer(searched,loaded,extra,req,need,root,cwd,rootexe):
    if (req,need) in searched: return searched[(req,need)] or 'MISSING'
    for n,p in extra+loaded:
        if n==need or p==need: return p
    for n,p in extra+loaded:
        q=real(root,p if p!='EXE' else rootexe); q=q if q.startswith('/') else os.path.join(cwd,q)
        if soname(q)==need: return p
    return 'NOT-REQUESTED'
bad=0
interp=sys.argv[2]
print('verdict\tactual\t'+'case\tkind\tenv\tcwd\troot\trequester\tneeded\texpected\thow\tlaunch')
for line in open(sys.argv[1]):
    f=line.rstrip('\n').split('\t'); case,kind,env,cwd,rootx,req,need,exp,how,launch=f
    e=envd(env); croot=None
    if kind in('exec','chroot','suid','user'):
        argv=launch.split(' ') if kind!='exec' else [launch]
        if kind=='chroot':
            croot=argv[1]; e['LD_LIBRARY_PATH']=e.get('LD_LIBRARY_PATH','')
        if kind=='suid':
            # secure mode: no LD_DEBUG possible; observe success or the loader's error text
            # The variable must reach the set-user-id program only, not the program that starts it.
            if env: argv=argv[:-1]+['env',env]+argv[-1:]
            p=subprocess.run(argv,cwd=cwd,env=envd(''),capture_output=True,text=True)
            act='MISSING' if 'cannot open shared object file' in p.stderr else (exp if p.returncode==0 else 'ERR '+p.stderr.strip())
        else:
            if kind=='chroot':
                # env must reach only the chrooted program: use env(1) outside would also affect chroot(8) itself
                e2=envd(env); e2['LD_DEBUG']='libs,files'; e2['LD_TRACE_LOADED_OBJECTS']='1'
                r=os.pipe(); pid=os.fork()
                if pid==0:
                    os.dup2(r[1],2); os.dup2(r[1],1); os.close(r[0]); os.chroot(croot); os.chdir('/')
                    try: os.execve(argv[2],[argv[2]],e2)
                    except Exception as x: os.write(2,str(x).encode()); os._exit(127)
                os.close(r[1]); log=b''
                while True:
                    b=os.read(r[0],65536)
                    if not b: break
                    log+=b
                os.close(r[0]); os.waitpid(pid,0); log=log.decode('utf-8','surrogateescape')
            else:
                e['LD_DEBUG']='libs,files'; e['LD_TRACE_LOADED_OBJECTS']='1'
                pre=None
                if kind=='user':
                    argv=[rootx]
                    def pre(): os.setgroups([]); os.setgid(65534); os.setuid(65534)
                p=subprocess.run(argv,cwd=cwd,env=e,capture_output=True,text=True,errors='surrogateescape',preexec_fn=pre); log=p.stderr+'\n'+p.stdout
            m=re.search(r'error while loading shared libraries: .*?: (.*)$',log,re.M)
            realexe=os.path.realpath(rootx) if kind=='exec' else rootx
            s,l=parse(log,rootx,croot,cwd)
            extra=[('','EXE'),(interp,interp)]
            rq=req
            act=answer(s,l,extra,rq,need,croot,cwd,rootx)
            # DST in NEEDED: debug prints the expanded name
            if act=='NOT-REQUESTED' and '$ORIGIN' in need:
                act=answer(s,l,extra,rq,need.replace('$ORIGIN',os.path.dirname(realexe)),croot,cwd,rootx)
            if act.startswith('$ORIGIN'): # the debug log shows the unexpanded name; it was opened, so expand it
                x=act.replace('$ORIGIN',os.path.dirname(realexe)); act=x if os.path.exists(x) else act
            if exp.startswith('FATAL:') and m: act='FATAL:'+m.group(1)
    elif kind in('proc','ns'):
        e['LD_DEBUG']='libs,files'
        p=subprocess.run(launch.split(' '),cwd=cwd,env=e,capture_output=True,text=True,errors='surrogateescape')
        objs=[x.split('\t')[1] for x in p.stdout.split('\n') if x.startswith('OBJ\t')]
        hand={x.split('\t')[1]:x.split('\t')[2] for x in p.stdout.split('\n') if x.startswith('HANDLE\t')}
        s,l=parse(p.stderr,rootx,None,cwd)
        act=None
        for k in(need,'via:'+need,'ns:'+need):
            if k in hand: act=hand[k]
        if act is None: act=answer(s,l,[('','EXE')]+[(None,o) for o in objs if o],req,need,None,cwd,rootx)
        if act=='NOT-REQUESTED' and 'DLOPEN' in p.stdout and 'cannot open shared object file' in p.stdout: act='MISSING'
    elif kind=='musl':
        p=subprocess.run(['/lib/ld-musl-x86_64.so.1','--list',launch],cwd=cwd,env=e,capture_output=True,text=True,errors='surrogateescape')
        out=p.stdout; act='MISSING' if re.search(r'(Error loading shared library|Error relocating) ?'+re.escape(need),p.stderr) else None
        if act is None:
            m=re.search(r'^\t'+re.escape(need)+r' => (.*) \(0x[0-9a-f]+\)$',out,re.M)
            act=m.group(1) if m else 'SAME-AS-EARLIER'
            if act=='SAME-AS-EARLIER':
                # name never printed: resolved to an object already in the list (inode match)
                for x in re.findall(r'^\t\S+ => (.*) \(0x',out,re.M):
                    try:
                        if os.path.samefile(x,exp): act=x
                    except OSError: pass
            if act=='ldd': act=exp
    ok = act==exp
    bad+= not ok
    print(('PASS' if ok else 'FAIL')+'\t'+str(act)+'\t'+line.rstrip('\n'))
print('# %d failed'%bad,file=sys.stderr); sys.exit(1 if bad else 0)
PY
python3 $D/verify.py "$TSV" "$INTERP"
