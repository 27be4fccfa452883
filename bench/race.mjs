import { commit } from './chance.mjs';
import { Installation } from './installation.mjs';
import { load, smsRequest } from './load.mjs';
import { BENCH_API_KEY } from './seed.mjs';

/**
 * Two api processes race for the last credit: it suffices for exactly so many messages, and many times as many
 * are attempted at once, on both. Exactly that many must be accepted, every refusal must say numbers that were
 * true at some moment, and the books must be equal at the end. Ends with exit code 1 when one is not.
 */
const ROUNDS = Number(process.env.RACE_ROUNDS ?? 5);
const ATTEMPTS = Number(process.env.RACE_ATTEMPTS ?? 10_000);
const MESSAGES = Number(process.env.RACE_MESSAGES ?? 1_234);
const CONNECTIONS = 32;
/** Numbers of one operator cost the same. */
const COST_PREFIX = '96477';
const COST_IQD = 80;
/** Less than one more message costs. */
const REST_IQD = 79;
const LOAD_SECONDS_MAX = 300;
const QUIET_TIMEOUT_MS = 90_000;

const credit = MESSAGES * COST_IQD + REST_IQD;
let failures = 0;
console.log(
  `race: commit ${commit()}, credit for ${MESSAGES} messages, ${ATTEMPTS} attempts, ${ROUNDS} rounds`,
);
for (let round = 1; round <= ROUNDS; round += 1) failures += (await race(round)) ? 0 : 1;
console.log(`race: ${ROUNDS} rounds, ${failures} with violations`);
process.exit(failures === 0 ? 0 : 1);

async function race(round) {
  const installation = await Installation.start(['api-1', 'api-2', 'worker-1', 'worker-2'], {
    BENCH_CREDIT: String(credit),
  });
  const accepted = [];
  const problems = [];
  let refused = 0;
  const onAnswer = (text, status) => {
    const body = JSON.parse(text);
    if (status === 200) {
      accepted.push(body);
    } else if (status === 400) {
      refused += 1;
      problems.push(...refusalProblems(body));
    } else problems.push(`answered ${status} ${text}`);
  };
  try {
    const results = await Promise.all(
      installation.apiPorts().map((port) =>
        load({
          port,
          connections: CONNECTIONS,
          seconds: LOAD_SECONDS_MAX,
          requests: ATTEMPTS / 2,
          makeRequest: smsRequest({ apiKey: BENCH_API_KEY, prefix: COST_PREFIX }),
          onAnswer,
        }),
      ),
    );
    const answered = results.reduce((sum, result) => sum + result.answered, 0);
    if (answered !== ATTEMPTS) problems.push(`${answered} answers to ${ATTEMPTS} attempts`);
    if (accepted.length !== MESSAGES) problems.push(`${accepted.length} accepted instead of ${MESSAGES}`);
    problems.push(...creditProblems(accepted));
    await installation.untilWorkIsDone(QUIET_TIMEOUT_MS);
    await installation.comeToRest(QUIET_TIMEOUT_MS);
    const acknowledged = accepted.map(({ smsId }) => smsId);
    const books = await installation.check({ acknowledged, quiet: true });
    if (books.stored !== accepted.length) problems.push(`${books.stored} stored`);
    problems.push(...books.problems);
  } finally {
    await installation.stop({ keepLogs: problems.length > 0 });
  }
  console.log(
    `round ${round}: ${accepted.length} accepted, ${refused} refused, ${problems.length === 0 ? 'ok' : `${problems.length} VIOLATIONS`}`,
  );
  for (const problem of problems.slice(0, 10)) console.log(`VIOLATION  ${problem}`);
  return problems.length === 0;
}

/** Every acceptance left another credit behind: all the steps from the first to the last, none twice. */
function creditProblems(accepted) {
  const left = accepted.map(({ remainingCredit }) => remainingCredit).sort((a, b) => b - a);
  const wrong = left.findIndex((remaining, index) => remaining !== credit - (index + 1) * COST_IQD);
  return wrong === -1 ? [] : [`acceptance ${wrong + 1} left ${left[wrong]} IQD`];
}

function refusalProblems({ error, yourCredit, requiredCredit, canCover }) {
  const isTrue =
    String(error).startsWith('Insufficient credit') &&
    yourCredit === REST_IQD &&
    requiredCredit === COST_IQD &&
    canCover === false;
  return isTrue ? [] : [`refused with ${JSON.stringify({ error, yourCredit, requiredCredit, canCover })}`];
}
