import { afterEach, describe, expect, it, vi } from "vitest";
import { readConfig } from "../src/config.ts";

afterEach(() => vi.unstubAllEnvs());

describe("the management server's settings", () => {
  it("have the published defaults", () => {
    expect(readConfig([])).toMatchObject({
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
    expect(readConfig([])).toMatchObject({ token: "from-environment", namespace: "mesh-system" });
    expect(readConfig(["--namespace", "given"])).toMatchObject({ namespace: "given" });
  });

  it.each([
    [["--port", "-1"], /-1 is not a port: a number from 0 to 65535/],
    [["--port", "70000"], /70000 is not a port/],
    [["surplus"], /surplus|too many arguments/],
    [["--no-such-flag"], /unknown option '--no-such-flag'/],
  ])("refuse %j with a message that names what is wrong", (argv, message) => {
    expect(() => readConfig(argv)).toThrow(message);
  });
});
