/** Addresses that webhooks may reach beside the public ones, and the ports. */
export interface EgressConfig {
  readonly allow: readonly string[];
  readonly ports: readonly number[];
  /** A certificate authority that replaces the usual ones: nothing else is trusted then; for tests. */
  readonly ca?: string;
}
