import { relayFrom } from "./networkRelay.ts";

// In the network of a cluster: a port that leads out to a socket.
const [host = "", port = "", socket = ""] = process.argv.slice(2);
relayFrom(host, Number(port), socket, () => console.log("listening"));
