import { Link } from "@tanstack/react-router";
import type { PageSearch } from "../components/frame/usePageSearch.ts";
import { formatFilter } from "../model/lines/tokens.ts";
import { t } from "../strings.ts";

export interface AccessLinkProps {
  readonly side: "from" | "to";
  /** Its cluster, namespace, and service account or service. */
  readonly parts: readonly (string | undefined)[];
}

/** A link to who may call whom, of one caller or of one service. */
export function AccessLink({ side, parts }: AccessLinkProps) {
  const name = parts.map((part = "") => part).join("/");
  const search: PageSearch = { view: "services", q: formatFilter({ tokens: [{ key: side, values: [name] }], words: [] }) };
  return (
    <Link to="/access" search={search}>
      {side === "from" ? t.access.ofCaller : t.access.ofTarget}
    </Link>
  );
}
