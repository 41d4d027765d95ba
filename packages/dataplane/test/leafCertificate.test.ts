import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { leafValidity } from "../src/leafCertificate.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections();
});

async function asked(text: string, { status = 200, ends = true }: { status?: number; ends?: boolean } = {}) {
  const server = createServer((_, response) => {
    response.writeHead(status);
    if (ends) response.end(text);
    else response.write(text);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return leafValidity("127.0.0.1", { port, allowance: { loopback: true } }, new AbortController().signal);
}

const PAGE = `# HELP istio_agent_cert_expiry_seconds The time remaining
# TYPE istio_agent_cert_expiry_seconds gauge
istio_agent_cert_expiry_seconds{resource_name="ROOTCA"} 3.1e+08
istio_agent_cert_expiry_seconds{resource_name="default"} 86373.98
`;

describe("what is left of a proxy's certificate", () => {
  it("is read before the page has ended", async () => {
    const start = Date.now();
    const found = await asked(PAGE);
    expect(found?.secondsLeft).toBe(86_373.98);
    // A date has whole seconds.
    expect((found?.endsAt ?? 0) - 86_373_980).toBeGreaterThan(start - 1_001);
    expect((await asked(PAGE, { ends: false }))?.secondsLeft).toBe(86_373.98);
  });

  it("is unknown where it is not said, or is no number", async () => {
    expect(await asked('istio_agent_cert_expiry_seconds{resource_name="ROOTCA"} 1\n')).toBeUndefined();
    expect(await asked('istio_agent_cert_expiry_seconds{resource_name="default"} NaN\n')).toBeUndefined();
    expect(await asked("")).toBeUndefined();
  });

  it("is not asked of addresses of this machine, nor believed of a page that is refused", async () => {
    await expect(asked(PAGE, { status: 403 })).rejects.toThrow("status 403");
    await expect(leafValidity("127.0.0.1", {}, new AbortController().signal)).rejects.toThrow("not one that pods have");
    await expect(leafValidity("169.254.169.254", {}, new AbortController().signal)).rejects.toThrow("not one that pods have");
  });
});
