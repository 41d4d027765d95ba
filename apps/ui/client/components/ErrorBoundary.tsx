import { Component, type ReactNode } from "react";
import { t } from "../strings.ts";
import { Name } from "./Name.tsx";

interface State {
  readonly cause: string | undefined;
}

/** Keeps an error of one page from the rest of the console, and shows its cause. */
export class ErrorBoundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { cause: undefined };

  static getDerivedStateFromError(error: unknown): State {
    return { cause: error instanceof Error ? error.message : String(error) };
  }

  override render(): ReactNode {
    const { cause } = this.state;
    if (cause === undefined) return this.props.children;
    return (
      <div className="empty" role="alert">
        <h1 className="empty-title">{t.errors.title}</h1>
        <p>{t.errors.text}</p>
        <p>
          <code>
            <Name text={cause} isWrapped />
          </code>
        </p>
        <button type="button" className="button" onClick={() => this.setState({ cause: undefined })}>
          {t.errors.retry}
        </button>
      </div>
    );
  }
}
