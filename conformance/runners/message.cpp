#include "conformance/runners/message.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace fp4proof::runners {

namespace {

constexpr std::size_t most_files = 4;

struct FileRoom {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_files * sizeof(int))> bytes{};
};

std::vector<FileDescriptor> files_of(msghdr& header) {
  std::vector<FileDescriptor> files;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof number, sizeof number);
      files.emplace_back(number);
    }
  }
  return files;
}

}  // namespace

std::string text_field(const nlohmann::json& body, const char* key) {
  const bool is_there = body.is_object() && body.contains(key) && body[key].is_string();
  return is_there ? body[key].get<std::string>() : std::string();
}

bool send_message(int socket, const nlohmann::json& body, std::span<const int> files) {
  std::string text = body.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > most_message_bytes || files.size() > most_files) return false;
  iovec data{text.data(), text.size()};
  FileRoom room;
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (!files.empty()) {
    header.msg_control = room.bytes.data();
    header.msg_controllen = CMSG_SPACE(files.size_bytes());
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(files.size_bytes());
    std::memcpy(CMSG_DATA(part), files.data(), files.size_bytes());
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket, &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(text.size());
}

Received receive_message(int socket) {
  std::vector<char> text(most_message_bytes + 1);
  iovec data{text.data(), text.size()};
  FileRoom room;
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = room.bytes.data();
  header.msg_controllen = room.bytes.size();
  ssize_t count = -1;
  do {
    count = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return {};
  Received received{Received::Kind::nonsense, {nlohmann::json(), files_of(header)}};
  if (static_cast<std::size_t>(count) > most_message_bytes) return received;
  received.message.body = nlohmann::json::parse(text.data(), text.data() + count, nullptr, false);
  if (received.message.body.is_object()) received.kind = Received::Kind::message;
  return received;
}

}  // namespace fp4proof::runners
