import { expect, it } from "vitest";
import { agentSkew, serversText } from "../../client/model/clusters/agentSkew.ts";

const one = [{ version: "1.4.0", replicas: 2 }];
const mixed = [{ version: "1.4.0", replicas: 1 }, { version: "1.5.1", replicas: 2 }, { replicas: 1 }];

it("marks by how many minor versions an agent is older or newer, and warns where that is not supported", () => {
  const marks = ["1.4.9", "1.3.2", "1.2.0", "1.1.0", "1.5.0", "1.6.0", "2.0.0"].map((version) => agentSkew(version, one));
  expect(marks).toEqual([
    { mark: "=", isSupported: true },
    { mark: "(-1)", isSupported: true },
    { mark: "(-2)", isSupported: true },
    { mark: "(-3)", isSupported: false },
    { mark: "(+1)", isSupported: true },
    { mark: "(+2)", isSupported: false },
    { mark: "(other major)", isSupported: false },
  ]);
});

it("claims nothing of what is not known", () => {
  for (const servers of [undefined, [], [{ replicas: 2 }]]) {
    expect(agentSkew("1.4.0", servers)).toBeUndefined();
    expect(serversText(servers)).toBeUndefined();
  }
  expect(agentSkew(undefined, one)).toBeUndefined();
  expect(agentSkew("demo", one)).toBeUndefined();
  expect(agentSkew("demo", [{ version: "demo", replicas: 1 }])).toEqual({ mark: "=", isSupported: true });
});

it("compares with the replica that is farthest, and says that replicas differ", () => {
  expect(agentSkew("1.4.0", mixed)).toEqual({ mark: "(-1)", isSupported: true });
  expect(agentSkew("1.2.0", mixed)).toEqual({ mark: "(-3)", isSupported: false });
  expect(serversText(one)).toEqual({ text: "Management server 1.4.0, 2 replicas.", isMixed: false });
  expect(serversText(mixed)).toMatchObject({
    isMixed: true,
    text: expect.stringContaining("different versions: 1.4.0 (1), 1.5.1 (2), one that does not say."),
  });
});
