import { connect } from 'node:net';

/**
 * Keep-alive connections over raw sockets, each with one request under way. Returns what was answered within
 * the time: requests per second, latency percentiles in milliseconds, and how many answers were not 200.
 * `makeRequest(index)` gives the whole request as a Buffer; `onAnswer(body, status)` hears of every answer.
 */
export async function load({
  port,
  connections,
  seconds,
  requests = Number.POSITIVE_INFINITY,
  makeRequest,
  onAnswer = () => {},
}) {
  const latencies = [];
  const until = performance.now() + seconds * 1000;
  let sent = 0;
  let refused = 0;
  const started = performance.now();
  const client = () =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      let startedAt = 0;
      let pending = '';
      const next = () => {
        if (sent >= requests || performance.now() >= until) return socket.end();
        startedAt = performance.now();
        socket.write(makeRequest(sent++));
      };
      socket.setNoDelay(true);
      socket.on('connect', next);
      socket.on('data', (chunk) => {
        pending = pending === '' ? chunk.toString('latin1') : pending + chunk.toString('latin1');
        const head = pending.indexOf('\r\n\r\n');
        if (head === -1) return;
        const length = Number(/content-length: (\d+)/i.exec(pending.slice(0, head))?.[1] ?? 0);
        if (pending.length < head + 4 + length) return;
        const status = Number(pending.slice(9, 12));
        if (status !== 200) refused += 1;
        onAnswer(pending.slice(head + 4), status);
        pending = '';
        latencies.push(performance.now() - startedAt);
        next();
      });
      socket.on('close', resolve);
      socket.on('error', reject);
    });
  await Promise.all(Array.from({ length: connections }, client));
  const elapsed = (performance.now() - started) / 1000;
  latencies.sort((a, b) => a - b);
  const percentile = (share) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    perSecond: latencies.length / elapsed,
    p50: percentile(0.5),
    p99: percentile(0.99),
    answered: latencies.length,
    refused,
  };
}

/** A POST /sms with a number of its own, delivered by sms; every number begins with `prefix`. */
export function smsRequest({ apiKey, path = '/sms', prefix = '9647' }) {
  const post = postTo(path, apiKey);
  const digits = 13 - prefix.length;
  return () => {
    const number = String(Math.floor(Math.random() * 10 ** digits)).padStart(digits, '0');
    return post(
      `{"phoneNumber":"${prefix}${number}","smsType":"verification","verificationCode":"123456","provider":"sms"}`,
    );
  };
}

/**
 * A POST /sms of any kind: half of them are delivered by sms, the others go to test numbers, of which half fall
 * back from whatsapp to sms and half fail on every channel and are given back.
 */
export function mixedRequest({ apiKey, path = '/sms' }) {
  const post = postTo(path, apiKey);
  const plain = smsRequest({ apiKey, path });
  return () => {
    if (Math.random() < 0.5) return plain();
    const outcome = Math.random() < 0.5 ? '0007' : '0006';
    const number = `999${100_000 + Math.floor(Math.random() * 900_000)}${outcome}`;
    return post(
      `{"phoneNumber":"${number}","smsType":"verification","verificationCode":"123456","provider":"whatsapp-sms"}`,
    );
  };
}

/** Makes whole requests of JSON bodies in ASCII. */
export function postTo(path, apiKey) {
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${apiKey}\r\nContent-Type: application/json\r\n`;
  return (body) => Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
