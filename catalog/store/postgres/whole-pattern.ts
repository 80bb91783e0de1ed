/** A pattern that ends with the escape character means that character here; Postgres refuses it. */
export function wholePattern(like: string): string {
  let end = like.length;
  while (like[end - 1] === '\\') end -= 1;
  return (like.length - end) % 2 === 1 ? `${like}\\` : like;
}
