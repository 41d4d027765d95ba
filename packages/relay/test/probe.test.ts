import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { createServer } from "node:tls";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type MadeIdentity, makeIdentity, probeServer } from "../src/index.ts";

const names = ["gloo-mesh-mgmt-server.gloo-mesh"];
let identity: MadeIdentity;
let other: MadeIdentity;
const closing: (() => void)[] = [];

beforeAll(async () => {
  identity = await makeIdentity({ now: Date.now(), names });
  other = await makeIdentity({ now: Date.now(), names });
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listening(options: { readonly ALPNProtocols?: readonly string[] } = { ALPNProtocols: ["h2"] }): Promise<number> {
  const { certificate: cert, key } = identity.server;
  const server = createServer({ cert, key, ...(options as { ALPNProtocols?: string[] }) });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  closing.push(() => server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const probe = (port: number, more: object = {}) =>
  probeServer({ host: "127.0.0.1", port, authority: names[0] ?? "", root: identity.root, ...more }, 500);

describe("a probe of the management server", () => {
  test("finds one that its certificate, its name and HTTP/2 speak for", async () => {
    await expect(probe(await listening())).resolves.toBeUndefined();
  });

  test("says what is wrong with any other", async () => {
    const port = await listening();
    await expect(probe(port, { root: other.root })).rejects.toThrow(/is not signed by the root that this agent trusts/);
    await expect(probe(port, { authority: "other.example" })).rejects.toThrow(/not for other.example: set --relay-authority/);
    await expect(probe(await listening({}))).rejects.toThrow(/does not offer HTTP\/2 \(ALPN h2\): a proxy/);
  });

  test("ends where nobody answers, or nobody says anything", async () => {
    await expect(probe(1)).rejects.toMatchObject({
      code: "Unreachable",
      message: expect.stringContaining("127.0.0.1:1: connect ECONNREFUSED"),
    });
    const silent = createTcpServer(() => undefined).listen(0, "127.0.0.1");
    closing.push(() => silent.close());
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    await expect(probe(port)).rejects.toThrow(/does not complete the TLS handshake: no answer within 0.5 s/);
  });
});
