import { openSample } from "./support.ts";
import { printSdl } from "../../src/versions/sdl.ts";
const s = await openSample();
console.log(printSdl(s.schema));
await s.close();
