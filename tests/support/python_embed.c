/* A program with a Python inside and no "python" in its name. */
#include <Python.h>

int main(int count, char** words) {
  return Py_BytesMain(count, words);
}
