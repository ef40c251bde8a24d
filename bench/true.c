/* The payload: a program that only exits; linked static, once with libc. */
int main(void)
{
	return 0;
}
