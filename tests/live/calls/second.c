/* Calls the other library as its last act: compiled to a jump, not a call. */
int tripled(int);
int tail_caller(int value) { return tripled(value + 1); }
