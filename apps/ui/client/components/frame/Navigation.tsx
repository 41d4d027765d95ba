import { Link } from "@tanstack/react-router";
import { t } from "../../strings.ts";
import { PAGES } from "./pageList.ts";

/** Links to all pages. */
export function Navigation() {
  return (
    <nav className="nav" aria-label={t.nav.label}>
      {PAGES.map(({ path, title }) => (
        <Link key={path} to={path} activeOptions={{ exact: path === "/" || path === "/meshes" }} activeProps={{ className: "active" }}>
          {title}
        </Link>
      ))}
    </nav>
  );
}
