import { afterEach, describe, expect, it, vi } from "vitest";
import { readServerConfig } from "../src/config.ts";

afterEach(() => vi.unstubAllEnvs());

describe("the management server's settings", () => {
  it("have the published defaults", () => {
    expect(readServerConfig([])).toMatchObject({
      namespace: "gloo-mesh",
      port: 9900,
      adminPort: 9091,
      clientCertificates: true,
      reflection: false,
      disallowIntersectingConfig: false,
      serverNames: [],
      token: undefined,
    });
  });

  it("come from the environment too, and the command line wins", () => {
    vi.stubEnv("RELAY_TOKEN", "from-environment");
    vi.stubEnv("POD_NAMESPACE", "mesh-system");
    expect(readServerConfig([])).toMatchObject({ token: "from-environment", namespace: "mesh-system" });
    expect(readServerConfig(["--namespace", "given"])).toMatchObject({ namespace: "given" });
  });

  it("elect a leader, and bear the names of the first generation, where they are configured to", () => {
    expect(readServerConfig([])).toMatchObject({ leaderElection: false, generation: "gloo-mesh" });
    vi.stubEnv("LEADER_ELECTION", "false");
    expect(readServerConfig([]).leaderElection).toBe(false);
    vi.stubEnv("LEADER_ELECTION", "true");
    expect(readServerConfig([]).leaderElection).toBe(true);
    expect(readServerConfig(["--legacy-names"])).toMatchObject({ generation: "enterprise", replica: "enterprise-networking" });
  });

  it.each([
    [["--port", "-1"], /-1 is not a port number from 0 to 65535/],
    [["--port", "70000"], /70000 is not a port/],
    [["surplus"], /surplus|too many arguments/],
    [["--no-such-flag"], /unknown option '--no-such-flag'/],
  ])("refuse %j with a message that names what is wrong", (argv, message) => {
    expect(() => readServerConfig(argv)).toThrow(message);
  });
});
