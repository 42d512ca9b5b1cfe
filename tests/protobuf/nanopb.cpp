// tests/protobuf/nanopb.cpp FROM TO: reads every descriptor in the folder FROM by code that nanopb generated from
// rowan.proto, with all fields in structs, and writes it to the folder TO.
#include "rowan.pb.h"

#include <pb_decode.h>
#include <pb_encode.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

template <class Message>
std::string again(std::string const& bytes, pb_msgdesc_t const* fields) {
    auto const message = std::make_unique<Message>();
    pb_istream_t in = pb_istream_from_buffer(reinterpret_cast<pb_byte_t const*>(bytes.data()), bytes.size());
    std::string written(bytes.size() + 100, '\0');
    pb_ostream_t out = pb_ostream_from_buffer(reinterpret_cast<pb_byte_t*>(written.data()), written.size());
    if (!pb_decode(&in, fields, message.get()) || !pb_encode(&out, fields, message.get())) {
        return std::string(PB_GET_ERROR(&in)) + ", " + PB_GET_ERROR(&out);
    }
    written.resize(out.bytes_written);
    return written;
}

int main(int count, char** arguments) {
    if (count != 3) return 2;
    for (auto const& entry : std::filesystem::directory_iterator(arguments[1])) {
        std::string const name = entry.path().filename().string(), kind = name.substr(0, name.find('.'));
        std::ifstream in(entry.path(), std::ios::binary);
        std::string const bytes{std::istreambuf_iterator<char>(in), {}};
        std::ofstream(std::filesystem::path(arguments[2]) / name, std::ios::binary)
            << (kind == "TensorDesc"      ? again<rowan_TensorDesc>(bytes, rowan_TensorDesc_fields)
                : kind == "LodTensorDesc" ? again<rowan_LodTensorDesc>(bytes, rowan_LodTensorDesc_fields)
                : kind == "VarDesc"       ? again<rowan_VarDesc>(bytes, rowan_VarDesc_fields)
                : kind == "OpDesc"        ? again<rowan_OpDesc>(bytes, rowan_OpDesc_fields)
                : kind == "BlockDesc"     ? again<rowan_BlockDesc>(bytes, rowan_BlockDesc_fields)
                                          : again<rowan_ProgramDesc>(bytes, rowan_ProgramDesc_fields));
    }
}
