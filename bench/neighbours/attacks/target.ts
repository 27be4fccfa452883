/** What an attacker is told of the service. */
export interface Target {
  readonly port: number;
  readonly seconds: number;
  readonly databaseUrl: string;
  /** Empty without a broker. */
  readonly queueUrl: string;
  /** Messages of `hangingReceivers` at most, each with an endpoint of its own. */
  readonly endpoints: number;
}
