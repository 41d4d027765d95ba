import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ExtensionConfig, type ExtensionConfigs, extensionConfigs, openWorkloadPort, wasmFilterConfig } from "@isthmus/dataplane";
import { systemClock } from "@isthmus/plane";
import { afterAll, beforeAll, expect, it } from "vitest";
import { stringify } from "yaml";
import { type Program, startProgram } from "./harness/childProcess.ts";
import { describeReal } from "./harness/describeReal.ts";
import { freePorts } from "./harness/freePorts.ts";
import { waitFor } from "./harness/waitFor.ts";
import { headerModule, padded } from "./harness/wasmModule.ts";

// A real Envoy asks for its filters as an EnvoyFilter would have it do, and the agent's service of filters answers it.
describeReal("a real Envoy's Wasm filters", ({ envoy }) => {
  const directory = mkdtempSync(join(tmpdir(), "isthmus-real-wasm-"));
  let agentPort = 0;
  let openPort = 0;
  let closedPort = 0;
  let module: Uint8Array = new Uint8Array();
  let proxy: Program | undefined;
  let agent: { readonly configs: ExtensionConfigs; stop(): Promise<void> } | undefined;
  let filters: ReadonlyMap<string, ExtensionConfig> = new Map();

  async function startAgent(): Promise<void> {
    const stopped = new AbortController();
    const configs = extensionConfigs({ podsAt: () => [POD], configsOf: () => filters, clock: systemClock, log: silent }, stopped.signal);
    const served = { services: [configs.service], purpose: "filters", clock: systemClock, log: silent };
    const port = openWorkloadPort({ host: "127.0.0.1", port: agentPort, ...served }, stopped.signal);
    await port.listening;
    agent = {
      configs,
      async stop() {
        stopped.abort(new Error("the agent is killed"));
        await port.ended;
      },
    };
  }

  /** The code and the header of one request. */
  async function request(port: number): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${port}/`);
    await response.arrayBuffer();
    return `${response.status} ${response.headers.get("x-wasm-filter") ?? "-"}`;
  }

  /** Has both filters run a module from now on. */
  function serve(code: Uint8Array, configuration = ""): void {
    const one = (name: string) => wasmFilterConfig({ name, code: { bytes: code }, configuration, failOpen: false });
    filters = new Map(["open", "closed"].map((name) => [name, one(name)]));
    agent?.configs.changed();
  }

  const states = () => (agent?.configs.outcomes() ?? []).map(({ filter, outcome }) => `${filter} ${outcome.state}`).sort();
  const accepted = () => waitFor("both filters to be accepted", () => states().join() === "closed ACCEPTED,open ACCEPTED");

  beforeAll(async () => {
    module = await headerModule();
    const [one = 0, two = 0, three = 0, admin = 0] = await freePorts(4);
    [agentPort, openPort, closedPort] = [one, two, three];
    const config = join(directory, "envoy.yaml");
    writeFileSync(config, stringify(bootstrap({ agentPort, openPort, closedPort, admin })));
    const args = ["-c", config, "--concurrency", "1", "--disable-hot-restart", "--log-level", "warn"];
    proxy = startProgram({ name: "envoy", command: envoy, args, log: join(directory, "envoy.log") });
  });

  afterAll(async () => {
    await proxy?.stop();
    await agent?.stop();
  });

  it("while no agent answers, are what the default says: requests pass, or are denied", async () => {
    await waitFor("Envoy to answer", async () => (await request(openPort).catch(() => "")) !== "");
    expect(await request(openPort)).toBe("200 -");
    expect(await request(closedPort)).toBe("403 -");
  });

  it("run as soon as the agent answers, and are said to be accepted", async () => {
    serve(module);
    await startAgent();
    await accepted();
    expect([await request(openPort), await request(closedPort)]).toEqual(["200 on", "200 on"]);
  });

  it("are replaced without a lost request", async () => {
    const answers = new Map<string, number>();
    let isReplaced = false;
    const load = (async () => {
      while (!isReplaced) {
        const answer = await request(openPort);
        answers.set(answer, (answers.get(answer) ?? 0) + 1);
      }
    })();
    for (const word of ["one", "two", "three"]) {
      serve(module, word);
      await waitFor(`requests to have ${word}`, () => (answers.get(`200 ${word}`) ?? 0) > 20);
    }
    isReplaced = true;
    await load;
    expect([...answers.keys()].filter((answer) => !answer.startsWith("200 ") || answer === "200 -")).toEqual([]);
  });

  it("that are no module are refused with what Envoy says, and the one before stays in force", async () => {
    serve(new TextEncoder().encode("garbage"));
    await waitFor("both to be refused", () => states().join() === "closed REFUSED,open REFUSED");
    const [first] = agent?.configs.outcomes() ?? [];
    expect(first?.outcome).toMatchObject({ error: expect.stringContaining("Unable to create Wasm plugin") as string });
    expect([await request(openPort), await request(closedPort)]).toEqual(["200 three", "200 three"]);
    serve(module, "mended");
    await accepted();
    await waitFor("the mended one", async () => (await request(openPort)) === "200 mended");
  });

  it("stay while the agent is gone, and may be as large as 16 MiB when it is back", async () => {
    await agent?.stop();
    expect(await request(closedPort)).toBe("200 mended");
    serve(padded(module, 16 * 1024 * 1024 - 4_096), "large");
    await startAgent();
    await accepted();
    await waitFor("the large one", async () => (await request(closedPort)) === "200 large");
  });
});

const POD = { namespace: "bookinfo", name: "reviews-v1-abc", workloadName: "reviews-v1" };

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

const FILTERS = "type.googleapis.com/envoy.extensions.filters";
const RBAC = `${FILTERS}.http.rbac.v3.RBAC`;

interface Ports {
  readonly agentPort: number;
  readonly openPort: number;
  readonly closedPort: number;
  readonly admin: number;
}

function bootstrap({ agentPort, openPort, closedPort, admin }: Ports): object {
  const at = (port: number) => ({ socket_address: { address: "127.0.0.1", port_value: port } });
  const agent = {
    google_grpc: {
      target_uri: `127.0.0.1:${agentPort}`,
      stat_prefix: "gloo-mesh-agent",
      // Without it gRPC refuses messages above 4 MiB.
      channel_args: { args: { "grpc.max_receive_message_length": { int_value: 20 * 1024 * 1024 } } },
    },
  };
  const discovered = (name: string, whileNothing: object) => ({
    name,
    config_discovery: {
      apply_default_config_without_warming: true,
      default_config: whileNothing,
      type_urls: [`${FILTERS}.http.wasm.v3.Wasm`, RBAC],
      config_source: {
        resource_api_version: "V3",
        initial_fetch_timeout: "5s",
        api_config_source: { api_type: "GRPC", transport_api_version: "V3", grpc_services: [agent] },
      },
    },
  });
  const listener = (name: string, port: number, whileNothing: object) => ({
    name,
    address: at(port),
    filter_chains: [
      {
        filters: [
          {
            name: "envoy.filters.network.http_connection_manager",
            typed_config: {
              "@type": `${FILTERS}.network.http_connection_manager.v3.HttpConnectionManager`,
              stat_prefix: name,
              http_filters: [
                discovered(name, whileNothing),
                { name: "envoy.filters.http.router", typed_config: { "@type": `${FILTERS}.http.router.v3.Router` } },
              ],
              route_config: {
                virtual_hosts: [
                  {
                    name: "all",
                    domains: ["*"],
                    routes: [{ match: { prefix: "/" }, direct_response: { status: 200, body: { inline_string: "x" } } }],
                  },
                ],
              },
            },
          },
        ],
      },
    ],
  });
  return {
    node: {
      id: "sidecar~10.0.0.7~reviews-v1-abc.bookinfo~bookinfo.svc.cluster.local",
      cluster: "reviews.bookinfo",
      metadata: { NAME: POD.name, NAMESPACE: POD.namespace },
    },
    admin: { address: at(admin) },
    static_resources: {
      // Rules without a policy deny everything.
      listeners: [
        listener("open", openPort, { "@type": RBAC }),
        listener("closed", closedPort, { "@type": RBAC, rules: { action: "ALLOW" } }),
      ],
    },
  };
}
