import type { LogEvent, LogFields, Logger } from '../../src/application/ports/logger.ts';

export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly event: LogEvent;
  readonly fields: LogFields;
}

/** Records log events, and lets a test wait for one. */
export class RecordingLogger implements Logger {
  readonly entries: LogEntry[] = [];
  writesDebug = false;
  #waiters: { readonly event: LogEvent; readonly times: number; readonly resolve: () => void }[] = [];

  debug(event: LogEvent, fields: LogFields = {}): void {
    this.#record({ level: 'debug', event, fields });
  }

  info(event: LogEvent, fields: LogFields = {}): void {
    this.#record({ level: 'info', event, fields });
  }

  warn(event: LogEvent, fields: LogFields = {}): void {
    this.#record({ level: 'warn', event, fields });
  }

  error(event: LogEvent, _error: unknown, fields: LogFields = {}): void {
    this.#record({ level: 'error', event, fields });
  }

  /** All but the lines that requests have by themselves. */
  get entriesBesideRequests(): readonly LogEntry[] {
    return this.entries.filter(({ event }) => event !== 'request_served');
  }

  count(event: LogEvent): number {
    return this.entries.filter((entry) => entry.event === event).length;
  }

  /** Resolves once `event` was logged `times` times in all. */
  async seen(event: LogEvent, times = 1): Promise<void> {
    if (this.count(event) >= times) return;
    await new Promise<void>((resolve) => this.#waiters.push({ event, times, resolve }));
  }

  #record(entry: LogEntry): void {
    this.entries.push(entry);
    const met = this.#waiters.filter(({ event, times }) => this.count(event) >= times);
    this.#waiters = this.#waiters.filter((waiter) => !met.includes(waiter));
    for (const { resolve } of met) resolve();
  }
}
