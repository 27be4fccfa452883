/** A receiver may read what a dead process had sent a little after its death. */
const LAST_WORDS_MS = 1_000;

/**
 * What the rows of webhook events say beside what the receiver wrote down, in sentences. `posts` are the
 * receiver's lines in order, `kills` the instants at which the service was dead, and `recorded` the instant of
 * the kill before which an event was recorded as delivered, by its id.
 */
export function checkWebhooks({ events, jobs, messages, posts, kills, recorded }) {
  const found = new Map();
  const add = (kind, detail) => found.set(kind, [...(found.get(kind) ?? []), detail]);
  const postsById = new Map();
  for (const post of posts) postsById.set(post.id, [...(postsById.get(post.id) ?? []), post]);

  checkRows({ events, messages, postsById, add });
  checkJobs({ events, jobs, add });
  const repeats = checkRepeats({ postsById, kills, recorded, add });
  checkOrder({ posts, add });

  const known = new Set(events.map(({ id }) => id));
  for (const id of postsById.keys()) if (!known.has(id)) add('posted, not stored', id);
  return {
    ...repeats,
    posted: posts.length,
    events: events.length,
    states: countBy(events, ({ state }) => state),
    problems: [...found].map(
      ([kind, details]) => `${details.length} × ${kind}: ${details.slice(0, 3).join(', ')}`,
    ),
  };
}

/** Every event is delivered, or still to be posted, or gave way; every final message has one final event. */
function checkRows({ events, messages, postsById, add }) {
  const finals = new Map();
  for (const { id, state, subject, body } of events) {
    if (JSON.parse(body).isFinal) finals.set(subject, (finals.get(subject) ?? 0) + 1);
    if (state === 'delivered' && !postsById.has(id)) add('delivered, never posted', id);
    if (state === 'discarded') add('discarded', id);
  }
  const heads = new Set(
    events.filter((event) => Number(event.is_open) === 1 && event.next_attempt_at !== null).map(subjectOf),
  );
  for (const event of events) {
    if (Number(event.is_open) === 1 && event.next_attempt_at === null && !heads.has(event.subject)) {
      add('waits behind nothing', event.id);
    }
  }
  for (const { sms_id: id, is_final: isFinal } of messages) {
    const count = finals.get(id) ?? 0;
    if (Number(isFinal) === 1 && count !== 1) add(`final message with ${count} final events`, id);
    if (Number(isFinal) === 0 && count !== 0) add('final event of a message that is not final', id);
  }
}

/** Every event that is to be posted has a job that somebody holds, or that is due no later than the event. */
function checkJobs({ events, jobs, add }) {
  const dueAt = new Map();
  for (const { work, due_at, is_leased: isLeased } of jobs) {
    const { kind, projectId, endpoint } = JSON.parse(work);
    if (kind === 'post-webhooks') {
      dueAt.set(`${projectId} ${endpoint}`, Number(isLeased) === 1 ? 0 : Number(due_at));
    }
  }
  for (const { id, project_id, endpoint, next_attempt_at: nextAt } of events) {
    if (nextAt === null) continue;
    const due = dueAt.get(`${project_id} ${endpoint}`);
    if (due === undefined) add('to be posted, without a job', id);
    else if (due > Number(nextAt)) add('to be posted before its job is due', id);
  }
}

/** An event is posted again only when a kill came between, and never once it was recorded as delivered. */
function checkRepeats({ postsById, kills, recorded, add }) {
  let repeated = 0;
  for (const [id, posts] of postsById) {
    repeated += posts.length - 1;
    for (const [index, post] of posts.entries()) {
      const killedAt = recorded.get(id);
      if (killedAt !== undefined && post.at > killedAt) add('posted after it was recorded as delivered', id);
      const before = posts[index - 1];
      if (
        before !== undefined &&
        !kills.some((kill) => kill >= before.at - LAST_WORDS_MS && kill <= post.at)
      ) {
        add('posted twice without a kill between', id);
      }
    }
  }
  return { repeated };
}

/** Nothing of a message is posted after its final event was. */
function checkOrder({ posts, add }) {
  const finals = new Map();
  for (const { id, body } of posts) {
    const { smsId, isFinal } = JSON.parse(body);
    const final = finals.get(smsId);
    if (final !== undefined && final !== id) add('posted after the final event', `${smsId} ${id}`);
    if (isFinal && final === undefined) finals.set(smsId, id);
  }
}

function subjectOf({ subject }) {
  return subject;
}

function countBy(items, keyOf) {
  const counts = {};
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1;
  return counts;
}
