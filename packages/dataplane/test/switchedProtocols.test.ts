import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { eventually } from "@isthmus/testing/eventually";
import { afterEach, expect, it } from "vitest";
import { scrapeOnce } from "../src/scrapeRequest.ts";
import { askModule } from "../src/wasm/moduleRequest.ts";

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** A server that answers each connection with `text`. */
async function answering(text: string, { ends = false } = {}): Promise<number> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => (ends ? socket.end(text) : socket.write(text)));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const UPGRADE = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n";
const signal = new AbortController().signal;
const allowance = { loopback: true };
const closed = () => eventually(() => expect([...sockets].every((socket) => socket.destroyed)).toBe(true));

function scraped(port: number): Promise<string> {
  let text = "";
  const take = (part: Uint8Array) => {
    text += new TextDecoder().decode(part);
    return true;
  };
  return scrapeOnce({ address: "127.0.0.1", port, path: "/" }, { timeoutMs: 30_000, take, allowance }, signal).then(() => text);
}

const asked = (port: number) =>
  askModule({ url: new URL(`http://127.0.0.1:${port}/m`), most: 100, allowance, timeoutMs: 30_000 }, signal).then(({ body }) =>
    new TextDecoder().decode(body),
  );

it.each([
  ["a scrape", scraped],
  ["a module", asked],
])("of %s, an answer that switches protocols ends the request, and its connection", async (_, ask) => {
  await expect(ask(await answering(UPGRADE))).rejects.toThrow("switches to another protocol");
  await closed();
});

it.each([
  ["a scrape", scraped],
  ["a module", asked],
])("of %s, a connection that closes too early is an error, and one that ends with its answer is none", async (_, ask) => {
  await expect(ask(await answering("", { ends: true }))).rejects.toThrow();
  await expect(ask(await answering("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", { ends: true }))).rejects.toThrow();
  expect(await ask(await answering("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it", { ends: true }))).toBe("all of it");
});
