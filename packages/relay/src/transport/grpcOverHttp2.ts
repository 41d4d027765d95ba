import type { Http2SecureServer, Http2Server } from "node:http2";
import type { Server } from "@grpc/grpc-js";

/**
 * Has the gRPC library serve the calls that reach an HTTP/2 server of ours. The library has no public way to it: it always makes the HTTP/2
 * server itself, without a setting for windows, headers or streams. What it does with the server that it made is one method, private by
 * its types alone; docs/decisions/0044-our-own-http2-server.md says why we call it. An upgrade without that method does not compile, and
 * one whose method does something else throws here, when the program starts.
 */
export function serveGrpc(server: Server, http2Server: Http2SecureServer | Http2Server): void {
  const before = counts(http2Server);
  const setupHandlers: unknown = server["_setupHandlers"];
  if (typeof setupHandlers !== "function") throw unknownLibrary();
  Reflect.apply(setupHandlers, server, [http2Server, []]);
  if (counts(http2Server).some((count, at) => count !== (before[at] ?? 0) + 1)) throw unknownLibrary();
}

/** How many listen for streams and for sessions. */
function counts(http2Server: Http2SecureServer | Http2Server): readonly number[] {
  return [http2Server.listenerCount("stream"), http2Server.listenerCount("session")];
}

function unknownLibrary(): Error {
  return new Error(
    "this version of @grpc/grpc-js does not serve an HTTP/2 server by its method _setupHandlers: use the version of package.json",
  );
}
