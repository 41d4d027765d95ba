export { type ServedApi, type ServeOptions, serveCluster } from "./server.ts";
