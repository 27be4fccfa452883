import { expect } from 'vitest';
import type { Harness } from '../../src/bootstrap/harness/harness.ts';

/** What tests read of a report. */
export interface MadeReport {
  readonly reportId: string;
  readonly downloadUrl: string;
  readonly recordCount: number;
}

/** Generates a report and expects that it is made. */
export async function reportOf(service: Harness, body: unknown): Promise<MadeReport> {
  const reply = await service.request('/reports/generate', { body });
  expect(reply).toMatchObject({ status: 200, body: { message: 'Delivery report generated successfully' } });
  return reply.body as MadeReport;
}

/** The lines of the file, the last one empty when it ends with a line end. */
export async function linesOf({ downloadUrl }: MadeReport): Promise<readonly string[]> {
  const response = await fetch(downloadUrl);
  expect(response.status).toBe(200);
  return (await response.text()).split('\r\n');
}
