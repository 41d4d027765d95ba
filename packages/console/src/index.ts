export type { FleetSource } from "./events/fleet.ts";
export { type ConsoleHub, type ConsoleHubOptions, startConsoleHub } from "./events/hub.ts";
export { type ConsoleAccess, type ConsoleServer, type ConsoleServerOptions, startConsoleServer } from "./http/consoleServer.ts";
export { isLoopback } from "./http/loopback.ts";
export { type Login, startLogin } from "./login/login.ts";
export { type ServerSourceOptions, serverSource } from "./sources/serverSource.ts";
export { type StoreSourceOptions, storeSource } from "./sources/storeSource.ts";
export { startViewerHubs, type ViewerHubs } from "./viewers/viewerHubs.ts";
export * from "./wire.ts";
