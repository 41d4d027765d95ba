#!/usr/bin/env node
// The same program; kubectl calls it for `kubectl mesh`, and by the name of this file its help says so.
await import("./meshctl.js");
