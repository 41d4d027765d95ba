import { afterEach, describe, expect, it, vi } from "vitest";
import { readAgentConfig } from "../src/config.ts";

afterEach(() => vi.unstubAllEnvs());

const needed = ["--cluster", "east", "--relay-address", "mgmt.example:9900"];

describe("the agent's settings", () => {
  it("have the published defaults", () => {
    expect(readAgentConfig(needed)).toMatchObject({
      clusterName: "east",
      serverAddress: "mgmt.example:9900",
      authority: "gloo-mesh-mgmt-server.gloo-mesh",
      namespace: "gloo-mesh",
      managementNamespace: "gloo-mesh",
      adminPort: 9091,
      clientCertificates: true,
      verifiesServer: true,
      token: undefined,
    });
  });

  it("come from the environment too, and the command line wins", () => {
    vi.stubEnv("RELAY_TOKEN", "from-environment");
    vi.stubEnv("POD_NAMESPACE", "mesh-system");
    vi.stubEnv("RELAY_DISABLE_CLIENT_CERTIFICATE_AUTHENTICATION", "true");
    expect(readAgentConfig(needed)).toMatchObject({ token: "from-environment", namespace: "mesh-system", clientCertificates: false });
    expect(readAgentConfig([...needed, "--relay-token", "given"])).toMatchObject({ token: "given" });
  });

  it("expect the server's certificate to be of the management plane's namespace, unless they are given its name", () => {
    const elsewhere = [...needed, "--management-namespace", "mesh-system"];
    expect(readAgentConfig(elsewhere)).toMatchObject({ authority: "gloo-mesh-mgmt-server.mesh-system", namespace: "gloo-mesh" });
    expect(readAgentConfig([...elsewhere, "--legacy-names"]).authority).toBe("enterprise-networking.mesh-system");
    expect(readAgentConfig([...elsewhere, "--relay-authority", "relay.example"]).authority).toBe("relay.example");
  });

  it("serve Wasm filters, and let the server ask for them, only where they are configured to", () => {
    expect(readAgentConfig(needed)).toMatchObject({ wasm: undefined, limits: { wasmFilters: false } });
    const given = [...needed, "--wasm-filters", "--registry-credentials", "/config.json", "--insecure-registries", "registry.test:5000"];
    const wasm = { registryCredentials: "/config.json", insecureRegistries: ["registry.test:5000"], privateHosts: [] };
    expect(readAgentConfig(given)).toMatchObject({ wasm, limits: { wasmFilters: true } });
    expect(readAgentConfig([...given, "--wasm-private-hosts", "modules.test"]).wasm).toMatchObject({ privateHosts: ["modules.test"] });
    expect(() => readAgentConfig([...needed, "--wasm-private-hosts", "modules.test"])).toThrow("have no effect without --wasm-filters");
    expect(() => readAgentConfig([...needed, "--registry-credentials", "/config.json"])).toThrow("have no effect without --wasm-filters");
  });

  it("are for certificates alone in standard mode, in the namespace in which orders are stored", () => {
    const standard = ["--cluster", "east", "--standard"];
    expect(readAgentConfig(standard)).toMatchObject({ isStandard: true, serverAddress: "" });
    expect(readAgentConfig(needed).isStandard).toBe(false);
    expect(() => readAgentConfig([...needed, "--standard"])).toThrow("--relay-address and --standard are mutually exclusive");
    expect(() => readAgentConfig([...standard, "--wasm-filters"])).toThrow("--wasm-filters has no effect with --standard");
    expect(() => readAgentConfig([...standard, "--management-namespace", "mesh"])).toThrow("run the agent there, not in gloo-mesh");
  });

  it("say which Service proxies reach the agent by, and with legacy names answer HTTP beside it", () => {
    expect(readAgentConfig(needed)).toMatchObject({ service: { name: "gloo-mesh-agent", grpcPort: 9977 }, workloadHttpPort: undefined });
    const legacy = readAgentConfig([...needed, "--legacy-names"]);
    expect(legacy).toMatchObject({ service: { name: "enterprise-agent", grpcPort: 9977, httpPort: 9988 }, workloadHttpPort: 9988 });
    expect(readAgentConfig([...needed, "--service", "agents", "--service-port", "443"]).service).toEqual({ name: "agents", grpcPort: 443 });
    expect(readAgentConfig([...needed, "--service", "none"]).service).toEqual({ name: "", grpcPort: 9977 });
    expect(() => readAgentConfig([...needed, "--service", "sink.attackers"])).toThrow("--service sink.attackers");
    expect(() => readAgentConfig([...needed, "--service-port", "0"])).toThrow("a port of its Service is not one");
  });

  it("say loudly by their name that the server is not verified", () => {
    vi.stubEnv("RELAY_DISABLE_SERVER_CERTIFICATE_VALIDATION", "true");
    expect(readAgentConfig(needed).verifiesServer).toBe(false);
  });

  it("elect a leader, and bear the names of the first generation, where they are configured to", () => {
    expect(readAgentConfig(needed)).toMatchObject({ leaderElection: false, generation: "gloo-mesh" });
    vi.stubEnv("LEADER_ELECTION", "false");
    expect(readAgentConfig(needed).leaderElection).toBe(false);
    vi.stubEnv("LEADER_ELECTION", "true");
    expect(readAgentConfig(needed).leaderElection).toBe(true);
    expect(readAgentConfig([...needed, "--legacy-names"])).toMatchObject({
      generation: "enterprise",
      instance: "enterprise-agent",
      authority: "enterprise-networking.gloo-mesh",
    });
  });

  it("are not switched on by an environment variable that says false", () => {
    vi.stubEnv("RELAY_DISABLE_CLIENT_CERTIFICATE_AUTHENTICATION", "false");
    expect(readAgentConfig(needed).clientCertificates).toBe(true);
  });

  it.each([
    [["--relay-address", "mgmt.example:9900"], /required option '--cluster/],
    [["--cluster", "east"], /--relay-address is required: set it to host:port .* or set --standard/],
    [
      ["--cluster", "East_1", "--relay-address", "a:1"],
      /is not a valid cluster name: use at most 63 lower-case letters, digits and hyphens/,
    ],
    [[...needed, "--admin-port", "many"], /many is not a port number from 0 to 65535/],
    [[...needed, "surplus"], /surplus|too many arguments/],
    [[...needed, "--no-such-flag"], /unknown option '--no-such-flag'/],
  ])("refuse %j with a message that names what is wrong", (argv, message) => {
    expect(() => readAgentConfig(argv)).toThrow(message);
  });
});
