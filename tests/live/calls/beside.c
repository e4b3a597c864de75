/* Constants in the segment of the code, looked up by name, between functions of every kind. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#ifdef LIBRARY
const int number = 42;
const char text[] = "text";
__asm__(".text\n.globl object, untyped, label\n.type object, @object\n"
        "object: .long 44\n.size object, 4\nuntyped: .long 43\n"
        "label: mov $47, %eax\nret\n");
int function(void) { return number; }
static int one(void) { return 46; }
/* Its address comes by an addition, which does not make it known elsewhere. */
static int (*choose(void))(void) {
  int (*found)(void);
  __asm__("call 1f\n1: pop %0\nadd $%c1 - 1b, %0" : "=r"(found) : "i"(one));
  return found;
}
int chosen(void) __attribute__((ifunc("choose")));
#else
int main(void) {
  void *library = dlopen("libbeside.so", RTLD_NOW);
  if (!library) { puts(dlerror()); return 2; }
  const int *number = dlsym(library, "number"), *object = dlsym(library, "object");
  const int *untyped = dlsym(library, "untyped");
  int (*function)(void) = dlsym(library, "function");
  int (*chosen)(void) = dlsym(library, "chosen");
  int (*label)(void) = dlsym(library, "label");
  if (function() != *number) return 1;
  printf("%d %s %d %d %d %d\n", *number, (const char *)dlsym(library, "text"), *object, *untyped,
         chosen(), label());
  return 0;
}
#endif
