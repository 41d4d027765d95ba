export { type ConnectionGuard, type ConnectionLimits, startConnectionGuard } from "./transport/connectionGuard.ts";
export { serveGrpc } from "./transport/grpcOverHttp2.ts";
export { type Http2Server, startHttp2Server } from "./transport/http2Server.ts";
export { limitUnfinished, type UnfinishedLimits } from "./transport/unfinishedMessages.ts";
