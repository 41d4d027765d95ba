import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { relayFrom } from "./networkRelay.ts";

// In the network of a cluster: a registry with an image for each file `TAG.wasm` of a folder, and a port that leads out to a socket.
const [host = "", registryPort = "", folder = "", relayPort = "", socket = ""] = process.argv.slice(2);

const digestOf = (bytes: Uint8Array) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const layers = new Map<string, Uint8Array>();

function moduleOf(tag: string): Uint8Array | undefined {
  try {
    return readFileSync(join(folder, `${tag}.wasm`));
  } catch {
    return undefined;
  }
}

const registry = createServer(({ url = "" }, response) => {
  const [, kind, name = ""] = /^\/v2\/filters\/header\/(manifests|blobs)\/([\w:.-]+)$/.exec(url) ?? [];
  const bytes = kind === "blobs" ? layers.get(name) : moduleOf(name);
  if (bytes === undefined) return void response.writeHead(404).end();
  if (kind === "blobs") return void response.end(bytes);
  const digest = digestOf(bytes);
  layers.set(digest, bytes);
  const layer = { mediaType: "application/vnd.module.wasm.content.layer.v1+wasm", digest, size: bytes.length };
  return void response.end(JSON.stringify({ schemaVersion: 2, layers: [layer] }));
});

registry.listen(Number(registryPort), host, () => {
  relayFrom(host, Number(relayPort), socket, () => console.log("listening"));
});
