import { columnsText } from "../output/columns.ts";
import { type DataFormat, dataText } from "./dataText.ts";
import type { PlaneVersions } from "./printVersions.ts";

/** Versions as far as they are known: `server` is null where no cluster answers, and absent where none was asked. */
export type Versions = { readonly client: { readonly version: string } } & (PlaneVersions | { readonly server?: null });

/** What runs in which version, for people and programs. */
export function versionsText(versions: Versions, format: "table" | DataFormat, width: number | undefined): string {
  return format === "table" ? columnsText(["COMPONENT", "VERSION", "SKEW"], rowsOf(versions), { width }) : dataText(versions, format);
}

function rowsOf(versions: Versions): readonly (readonly string[])[] {
  const client = ["meshctl", versions.client.version, ""];
  if (!("agents" in versions)) return versions.server === null ? [client, ["management plane", "unknown", ""]] : [client];
  const components = versions.server.flatMap(({ Namespace, components: all }) =>
    all.flatMap(({ componentName, images }) => images.map(({ name, version }) => [`${Namespace}/${componentName} (${name})`, version, ""])),
  );
  const agents = versions.agents.map(({ cluster, version, connected, skew }) => [
    `agent of ${cluster}${connected ? "" : " (not connected)"}`,
    version,
    skew,
  ]);
  return [client, ...components, ...agents];
}
