/* Forks and execs; what its children see of their environment is printed. */
#include <stdio.h>
#include <stdlib.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int add_one(int);
int main(void) {
  int value = 0, status;
  if (dup(0) >= 0) printf("next descriptor %d\n", dup(0));
  for (int i = 0; i < 10; ++i) value = add_one(value);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 1000; ++i) value = add_one(value);
    printf("child %d\n", value);
    fflush(stdout);
    execl("/bin/sh", "sh", "-c", "echo preload=[$LD_PRELOAD] ${LD_PRELOAD+set} calls=[$TRACSO_CALLS]; ls / | wc -l", (char *)0);
  }
  waitpid(child, &status, 0);
  for (int i = 0; i < 10; ++i) value = add_one(value);
  char *words[] = {"true", 0};
  posix_spawn(&child, "/bin/true", 0, 0, words, environ);
  waitpid(child, &status, 0);
  printf("parent %d status %d\n", value, WEXITSTATUS(status));
  return 0;
}
