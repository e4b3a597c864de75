#pragma once

// CLI11's names, for headers that only pass them on: a file that reads the library itself takes
// half a minute to compile at -O2, since all of it is inline.

namespace CLI {

class App;
class Option;
class ParseError;
class Validator;

}  // namespace CLI
