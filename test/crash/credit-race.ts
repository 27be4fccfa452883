import { commit } from '../support/commit.ts';
import { load, type ResponseListener, smsRequest } from '../support/http-load.ts';
import { LOAD_API_KEY } from '../support/load-seed.ts';
import { Installation } from './support/installation.ts';
import { QUIET_TIMEOUT_MS, WORK_TIMEOUT_MS } from './support/time-limits.ts';
import { textOf, verdictOf } from './support/verdict.ts';

/**
 * Two api processes race for the last credit: it suffices for exactly so many messages, and many times as many
 * are attempted at once, on both. Proves that exactly that many are accepted, that every rejection tells numbers
 * that were true at some moment, and that the ledger balances at the end.
 */
const ROUNDS = Number(process.env.RACE_ROUNDS ?? 5);
const ATTEMPTS = Number(process.env.RACE_ATTEMPTS ?? 10_000);
const MESSAGES = Number(process.env.RACE_MESSAGES ?? 1_234);
const CONNECTIONS = 32;
/** Numbers of one operator cost the same. */
const MOBILE_OPERATOR_PREFIX = '96477';
const COST_IQD = 80;
/** Less than one more message costs. */
const REMAINDER_IQD = 79;
const CREDIT_IQD = MESSAGES * COST_IQD + REMAINDER_IQD;
const LOAD_SECONDS_MAX = 300;
const SHOWN_MAX = 10;

interface Accepted {
  readonly smsId: string;
  readonly remainingCredit: number;
}

console.log(
  `credit-race: commit ${commit()}, credit for ${MESSAGES} messages, ${ATTEMPTS} attempts, ${ROUNDS} rounds`,
);
console.log('proves: two api processes together never spend more than the credit, nor less than they could');
let failures = 0;
for (let round = 1; round <= ROUNDS; round += 1) failures += (await race(round)) ? 0 : 1;
console.log(`credit-race: ${ROUNDS} rounds, ${failures} with violations`);
process.exit(failures === 0 ? 0 : 1);

async function race(round: number): Promise<boolean> {
  const installation = await Installation.start(['api-1', 'api-2', 'worker-1', 'worker-2'], {
    CRASH_CREDIT_IQD: String(CREDIT_IQD),
  });
  const accepted: Accepted[] = [];
  const problems: string[] = [];
  let rejected = 0;
  const onResponse: ResponseListener = (text, status) => {
    const body = JSON.parse(text);
    if (status === 200) {
      accepted.push(body);
    } else if (status === 400) {
      rejected += 1;
      problems.push(...rejectionProblems(body));
    } else problems.push(`response ${status} ${text}`);
  };
  try {
    const results = await Promise.all(
      installation.apiPorts().map((port) =>
        load({
          port,
          connections: CONNECTIONS,
          seconds: LOAD_SECONDS_MAX,
          requests: ATTEMPTS / 2,
          makeRequest: smsRequest({ apiKey: LOAD_API_KEY, prefix: MOBILE_OPERATOR_PREFIX }),
          onResponse,
        }),
      ),
    );
    const responses = results.reduce((sum, result) => sum + result.responses, 0);
    if (responses !== ATTEMPTS) problems.push(`${responses} responses to ${ATTEMPTS} attempts`);
    if (accepted.length !== MESSAGES) problems.push(`${accepted.length} accepted instead of ${MESSAGES}`);
    problems.push(...creditProblems(accepted));
    await installation.untilWorkIsDone(WORK_TIMEOUT_MS);
    await installation.comeToQuiet(QUIET_TIMEOUT_MS);
    const acknowledged = new Set(accepted.map(({ smsId }) => smsId));
    const ledger = await installation.check({ acknowledged, quiet: true });
    if (ledger.stored !== accepted.length) problems.push(`${ledger.stored} stored`);
    problems.push(...ledger.problems);
  } catch (error) {
    problems.push(textOf(error));
  } finally {
    await installation.stop({ keepLogs: problems.length > 0 });
  }
  console.log(`round ${round}: ${accepted.length} accepted, ${rejected} rejected, ${verdictOf(problems)}`);
  for (const problem of problems.slice(0, SHOWN_MAX)) console.log(`VIOLATION  ${problem}`);
  return problems.length === 0;
}

/** Every acceptance leaves another credit behind: one for each accepted send. */
function creditProblems(accepted: readonly Accepted[]): readonly string[] {
  const left = accepted.map(({ remainingCredit }) => remainingCredit).sort((a, b) => b - a);
  const wrong = left.findIndex((remaining, index) => remaining !== CREDIT_IQD - (index + 1) * COST_IQD);
  return wrong === -1 ? [] : [`acceptance ${wrong + 1} left ${left[wrong]} IQD`];
}

function rejectionProblems(body: Readonly<Record<string, unknown>>): readonly string[] {
  const { error, yourCredit, requiredCredit, canCover } = body;
  const isTrue =
    String(error).startsWith('Insufficient credit') &&
    yourCredit === REMAINDER_IQD &&
    requiredCredit === COST_IQD &&
    canCover === false;
  return isTrue ? [] : [`rejected with ${JSON.stringify({ error, yourCredit, requiredCredit, canCover })}`];
}
