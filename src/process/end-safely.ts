import { setFlagsFromString } from "node:v8";

// A process that ends while V8 compiles in the background can hang for ever: the compiler waits until the main thread has
// collected garbage, and the main thread for the compiler (nodejs/node#54918). Sparkplug, the first of V8's compilers, is
// the one that works most at the time when short commands end; it then compiles on the main thread.
setFlagsFromString("--no-concurrent-sparkplug");
