import { logVerbosity, setLogVerbosity } from "@grpc/grpc-js";

// The library writes its own lines to stderr, beside our structured log and about failures that we report ourselves. Who
// looks for a fault in it sets GRPC_VERBOSITY, which the library reads.
if (process.env["GRPC_VERBOSITY"] === undefined) setLogVerbosity(logVerbosity.NONE);
