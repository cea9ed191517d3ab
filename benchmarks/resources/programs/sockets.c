/* Sends PARAMETER datagrams to itself over loopback beside a fixed computation: the network. */
#include "arguments.h"
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int count, char **values) {
    arguments(count, values);
    int end = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof own;
    need(end >= 0 && bind(end, (struct sockaddr *)&own, size) == 0, "socket");
    need(getsockname(end, (struct sockaddr *)&own, &size) == 0, "getsockname");
    char bytes[1024] = {0};
    volatile double sum = 0;
    for (long round = 0; round < work; round++) {
        for (int i = 1; i < 20000; i++) sum += 1.0 / i;
        for (long k = 0; k < parameter; k++) {
            need(sendto(end, bytes, sizeof bytes, 0, (struct sockaddr *)&own, size) > 0, "sendto");
            need(recv(end, bytes, sizeof bytes, 0) > 0, "recv");
        }
    }
    printf("%g\n", sum);
}
