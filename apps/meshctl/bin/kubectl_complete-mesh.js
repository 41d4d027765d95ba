#!/usr/bin/env node
// The same program; kubectl calls it for what may follow the words of `kubectl mesh`.
process.argv.splice(2, 0, "__complete", "--");
await import("./meshctl.js");
