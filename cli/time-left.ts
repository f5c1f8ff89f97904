/** How long a piece of work will still take, in words. Pure. */

/**
 * By the mean pace since it began. The pace of the last few steps says little where many are under way at once: they end
 * in bursts, between which it seems that nothing will ever end.
 */
export function timeLeft(elapsedMs: number, steps: number, stepsLeft: number): string {
  if (stepsLeft <= 0) return "0s";
  return steps <= 0 ? "?" : duration(((elapsedMs / steps) * stepsLeft) / 1000);
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole}s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes}m` : `${Math.floor(minutes / 60)}h${minutes % 60 === 0 ? "" : `${minutes % 60}m`}`;
}
