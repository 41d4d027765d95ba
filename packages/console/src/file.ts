export { startConsoleHub } from "./events/hub.ts";
export { startConsoleServer } from "./http/consoleServer.ts";
export { fileSource } from "./sources/fileSource.ts";
