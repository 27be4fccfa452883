import { checkLedger } from './ledger-check.ts';
import { checkSmsc, type SmscReport, type SmsRow } from './smsc-check.ts';
import type { SmscLog } from './smsc-log.ts';
import type { SqliteService } from './sqlite-service.ts';
import { QUIET_TIMEOUT_MS } from './time-limits.ts';

/**
 * The clock of the service passes the receipt window of what has no receipt. Then its messages, all of them final, are compared
 * with what the SMSC wrote down, and its ledger is audited.
 */
export async function smscVerdict(
  service: SqliteService,
  {
    acknowledged,
    readLog,
    provider,
  }: {
    readonly acknowledged: ReadonlySet<string>;
    readonly readLog: () => SmscLog;
    readonly provider: string;
  },
): Promise<SmscReport & { readonly messages: number }> {
  await service.passReceiptWindows(QUIET_TIMEOUT_MS);
  const { ledger, messages } = await service.read(async (database) => {
    database.exec('BEGIN');
    const query = async (sql: string) => database.prepare<[], Record<string, unknown>>(sql).all();
    const report = await checkLedger(query, { acknowledged, quiet: true });
    const rows = database
      .prepare<[], SmsRow>('SELECT sms_id, phone_number, status, attempts FROM messages')
      .all();
    database.exec('COMMIT');
    return { ledger: report, messages: rows };
  });
  const report = checkSmsc(messages, readLog(), provider);
  const problems = [...ledger.problems, ...report.problems, ...(await service.child.ask('audit', true))];
  return { ...report, problems, messages: messages.length };
}
