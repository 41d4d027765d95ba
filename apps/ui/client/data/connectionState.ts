/** How the stream's connection stands. */
export interface ConnectionState {
  readonly isConnected: boolean;
  /** Milliseconds since 1970, of the browser's clock. */
  readonly since: number;
}
