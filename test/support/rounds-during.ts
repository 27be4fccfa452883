/** How many rounds of the event loop pass during the work. */
export async function roundsDuring(work: () => Promise<unknown>): Promise<number> {
  let rounds = 0;
  let isDone = false;
  const noteRound = () => {
    rounds += 1;
    if (!isDone) setImmediate(noteRound);
  };
  setImmediate(noteRound);
  await work();
  isDone = true;
  return rounds;
}
