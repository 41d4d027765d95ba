import type { ReactNode } from "react";
import { usePageTitle } from "./usePageTitle.ts";

/** A page of the navigation: its title, and what is below it. */
export function Page({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  usePageTitle(title);
  return (
    <div className="page">
      <h1>{title}</h1>
      {children}
    </div>
  );
}
