// LeakSanitizer reads this function. CoinUtils' presolve leaks a few hundred bytes on some
// infeasible models, and only that library could free them.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libCoinUtils\n"; }
